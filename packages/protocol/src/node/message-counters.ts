import type { Message } from '../index.ts';

type MessageType = Message['type'];

/** How many messages of each type. */
export type MessageCounts = Record<MessageType, number>;

function zeroes(): MessageCounts {
  return { OPEN: 0, UPDATE: 0, NOTIFICATION: 0, KEEPALIVE: 0, 'ROUTE-REFRESH': 0 };
}

/** Messages of a peer since it is known, over all its sessions. */
export class MessageCounters {
  readonly #received = zeroes();
  readonly #sent = zeroes();

  received(type: MessageType): void {
    this.#received[type] += 1;
  }

  sent(type: MessageType, count = 1): void {
    this.#sent[type] += count;
  }

  counts(): { readonly received: MessageCounts; readonly sent: MessageCounts } {
    return { received: { ...this.#received }, sent: { ...this.#sent } };
  }
}
