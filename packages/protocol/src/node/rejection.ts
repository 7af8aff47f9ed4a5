import type { Socket } from 'node:net';
import { type Asn, CeaseSubcode, encodeMessage, NotificationCode, openContext } from '../index.ts';
import type { Clock } from './clock.ts';

/** How long a rejected connection may take to hand over its NOTIFICATION, in milliseconds. */
const LINGER = 1000;

/**
 * Turns away connections of unknown addresses (RFC 4271 section 8.2.1.5). A few at a time are told so by
 * Cease/Connection Rejected (RFC 4486 section 4); the rest are closed at once, so that a flood costs next to nothing.
 */
export class Rejection {
  readonly #notification: Uint8Array;
  readonly #clock: Clock;
  readonly #limit: number;
  #open = 0;
  #count = 0;

  /** @param limit how many may linger at a time */
  constructor(localAsn: Asn, clock: Clock, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
    this.#notification = encodeMessage(
      {
        type: 'NOTIFICATION',
        code: NotificationCode.Cease,
        subcode: CeaseSubcode.ConnectionRejected,
        data: new Uint8Array(0),
      },
      openContext(localAsn),
    );
  }

  /** How many were turned away. */
  get count(): number {
    return this.#count;
  }

  reject(socket: Socket): void {
    this.#count += 1;
    socket.on('error', () => undefined);
    if (this.#open >= this.#limit) {
      socket.destroy();
      return;
    }
    this.#open += 1;
    const cancel = this.#clock.after(LINGER, () => socket.destroy());
    socket.on('close', () => {
      this.#open -= 1;
      cancel();
    });
    // What arrives is read and dropped: unread, it would turn the FIN into a RST.
    socket.resume();
    socket.end(this.#notification);
  }
}
