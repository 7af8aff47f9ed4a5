import { MessageType } from './constants.ts';
import type { CodecContext } from './context.ts';
import { beginMessage, endMessage } from './header.ts';
import type { NotificationMessage } from './message.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

/**
 * NOTIFICATION (RFC 4271 section 4.5):
 *
 *     | error code (1) | error subcode (1) | data (the rest) |
 */
export function decodeNotification(reader: Reader): NotificationMessage {
  const code = reader.u8();
  const subcode = reader.u8();
  return { type: 'NOTIFICATION', code, subcode, data: reader.bytes(reader.remaining) };
}

/** Data that does not fit is cut: the peer must get the code, and RFC 8654 section 5 bounds the message. */
export function encodeNotification(
  message: NotificationMessage,
  context: CodecContext,
  writer: Writer,
): Uint8Array {
  beginMessage(writer, MessageType.Notification);
  writer.u8(message.code);
  writer.u8(message.subcode);
  writer.bytes(message.data, Math.min(message.data.length, context.maxSendLength - writer.length));
  return endMessage(writer, context.maxSendLength);
}
