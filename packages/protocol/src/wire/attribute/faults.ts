import type { AttributeFault } from '../attribute-fault.ts';
import type { FaultAction } from '../errors.ts';
import { NotificationError } from '../errors.ts';
import { NotificationCode } from '../notification-codes.ts';
import type { DiscardNotes } from './codec.ts';

/** No fault: shared, so that an UPDATE without any costs nothing. */
export const noFaults: readonly AttributeFault[] = Object.freeze([]);

/** Collects the faults of one UPDATE; the strongest action wins (RFC 7606 section 3 (h)), a session reset at once. */
export class Faults implements DiscardNotes {
  #list: AttributeFault[] | undefined;
  /** What the session would be reset with, were there no NLRI to withdraw. */
  #withdrawal: NotificationError | undefined;

  get list(): readonly AttributeFault[] {
    return this.#list ?? noFaults;
  }

  /** The first fault that is stronger than "attribute discard", as the NOTIFICATION of RFC 4271 section 6.3. */
  get withdrawal(): NotificationError | undefined {
    return this.#withdrawal;
  }

  discarded(code: number, subcode: number, reason: string): void {
    this.#push({ code, action: 'attribute-discard', subcode, reason });
  }

  /**
   * `data` is what RFC 4271 section 6.3 wants in the NOTIFICATION: mostly the attribute.
   * @throws NotificationError when the action is a session reset.
   */
  report(code: number, action: FaultAction, subcode: number, reason: string, data: () => Uint8Array): void {
    if (action === 'attribute-discard') {
      this.discarded(code, subcode, reason);
      return;
    }
    if (action === 'session-reset') throw updateError(subcode, reason, data());
    this.#push({ code, action, subcode, reason });
    this.#withdrawal ??= updateError(subcode, reason, data());
  }

  #push(fault: AttributeFault): void {
    this.#list ??= [];
    this.#list.push(fault);
  }
}

export function updateError(subcode: number, reason: string, data?: Uint8Array): NotificationError {
  return new NotificationError(NotificationCode.UpdateMessageError, subcode, data, reason);
}
