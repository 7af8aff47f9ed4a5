import { HEADER_LENGTH, MessageType } from './constants.ts';
import type { KeepaliveMessage } from './message.ts';

/** The one value of KEEPALIVE (RFC 4271 section 4.4). */
export const keepalive: KeepaliveMessage = Object.freeze({ type: 'KEEPALIVE' });

/** A new copy each time: a caller that writes into it must not spoil the next one. */
export function encodeKeepalive(): Uint8Array {
  const bytes = new Uint8Array(HEADER_LENGTH).fill(0xff);
  bytes[16] = 0;
  bytes[17] = HEADER_LENGTH;
  bytes[18] = MessageType.Keepalive;
  return bytes;
}
