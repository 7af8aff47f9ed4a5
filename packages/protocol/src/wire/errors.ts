import type { AttributeFault } from './attribute-fault.ts';
import { describeNotification } from './notification-codes.ts';

const noData: Uint8Array = new Uint8Array(0);

/**
 * The session ends, and this NOTIFICATION says why (RFC 4271 section 6).
 * The only error that decoding throws.
 */
export class NotificationError extends Error {
  override readonly name = 'NotificationError';
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;

  constructor(code: number, subcode: number, data: Uint8Array = noData, reason?: string) {
    const words = describeNotification(code, subcode);
    super(reason === undefined ? words : `${words}: ${reason}`);
    this.code = code;
    this.subcode = subcode;
    this.data = data;
  }
}

/** Approaches of RFC 7606 section 2, from the weakest to the strongest. */
export type FaultAction = AttributeFault['action'] | 'session-reset';

/** A malformed attribute. Never leaves the codec: it becomes an `AttributeFault` or a `NotificationError`. */
export class AttributeError extends Error {
  override readonly name = 'AttributeError';
  /** UPDATE Message Error subcode of RFC 4271 section 6.3. */
  readonly subcode: number;

  constructor(subcode: number, reason: string) {
    super(reason);
    this.subcode = subcode;
  }
}

/** A field reaches past the end of what encloses it. Never leaves the codec. */
export class OverrunError extends Error {
  override readonly name = 'OverrunError';

  constructor(wanted: number, available: number) {
    super(`${wanted} octets wanted, ${available} left`);
  }
}

/** A message that we must not or cannot send: a mistake on our side, never the peer's. */
export class EncodeError extends Error {
  override readonly name = 'EncodeError';
}
