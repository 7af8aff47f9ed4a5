import type { NotificationContent } from '../index.ts';
import type { Clock } from './clock.ts';
import { describe } from './describe.ts';
import type { DescribedNotification, PeerEvent } from './peer-event.ts';

/** A NOTIFICATION and when it was, in monotonic milliseconds. */
export type LoggedNotification = DescribedNotification & { readonly at: number };

/** The last NOTIFICATION each way, and an event for each. */
export class NotificationLog {
  readonly #clock: Clock;
  readonly #event: (event: PeerEvent) => void;
  #lastSent: LoggedNotification | undefined;
  #lastReceived: LoggedNotification | undefined;

  constructor(clock: Clock, event: (event: PeerEvent) => void) {
    this.#clock = clock;
    this.#event = event;
  }

  get lastSent(): LoggedNotification | undefined {
    return this.#lastSent;
  }

  get lastReceived(): LoggedNotification | undefined {
    return this.#lastReceived;
  }

  sent(notification: NotificationContent): void {
    const described = describe(notification);
    this.#lastSent = { ...described, at: this.#clock.now() };
    this.#event({ type: 'notification-sent', ...described });
  }

  received(notification: NotificationContent): void {
    const described = describe(notification);
    this.#lastReceived = { ...described, at: this.#clock.now() };
    this.#event({ type: 'notification-received', ...described });
  }
}
