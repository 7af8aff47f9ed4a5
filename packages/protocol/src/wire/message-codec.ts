import type { AttributeMemory } from './attribute-octets.ts';
import { HEADER_LENGTH, MessageType } from './constants.ts';
import type { CodecContext } from './context.ts';
import { NotificationError, OverrunError } from './errors.ts';
import type { Frame } from './framer.ts';
import { encodeKeepalive, keepalive } from './keepalive.ts';
import type { DecodedMessage, Message, ReceivedMessage } from './message.ts';
import { decodeNotification, encodeNotification } from './notification.ts';
import { MessageHeaderSubcode, NotificationCode } from './notification-codes.ts';
import { decodeOpen, encodeOpen } from './open.ts';
import { Reader } from './reader.ts';
import { decodeRouteRefresh, encodeRouteRefresh } from './route-refresh.ts';
import { decodedUpdate, encodeUpdate, readUpdate } from './update.ts';
import { Writer } from './writer.ts';

/**
 * Reads a message that the framer cut out. Nothing of the result refers to the frame's memory.
 * @throws NotificationError, and nothing else, when the session must end.
 */
export function decodeMessage(frame: Frame, context: CodecContext): DecodedMessage {
  const message = readMessage(frame, context);
  return message.type === 'UPDATE' ? decodedUpdate(message) : message;
}

/**
 * As `decodeMessage`, but the routes of an UPDATE stay in the frame's memory: to be used before the next frame is asked for.
 * @param memory where path attributes are looked up by their octets; `AttributeTable` is one
 * @throws NotificationError, and nothing else, when the session must end.
 */
export function readMessage(frame: Frame, context: CodecContext, memory?: AttributeMemory): ReceivedMessage {
  const reader = Reader.of(frame.bytes);
  try {
    reader.skip(HEADER_LENGTH);
    return readBody(frame.type, reader, context, memory);
  } catch (error) {
    if (!(error instanceof OverrunError)) throw error;
    // Shorter than its fixed fields: the framer refuses such a message, a caller without one may not.
    const { length } = frame.bytes;
    throw new NotificationError(
      NotificationCode.MessageHeaderError,
      MessageHeaderSubcode.BadMessageLength,
      Uint8Array.of(length >> 8, length),
      `length ${length} of type ${frame.type}`,
    );
  }
}

function readBody(
  type: number,
  reader: Reader,
  context: CodecContext,
  memory: AttributeMemory | undefined,
): ReceivedMessage {
  switch (type) {
    case MessageType.Open:
      return decodeOpen(reader);
    case MessageType.Update:
      return readUpdate(reader, context, memory);
    case MessageType.Notification:
      return decodeNotification(reader);
    case MessageType.Keepalive:
      return keepalive;
    case MessageType.RouteRefresh:
      return decodeRouteRefresh(reader, context);
    default:
      throw new NotificationError(
        NotificationCode.MessageHeaderError,
        MessageHeaderSubcode.BadMessageType,
        Uint8Array.of(type),
        `type ${type}`,
      );
  }
}

/** What messages are put together in, one after another: nothing else runs meanwhile, and what is handed out is a copy. */
const scratch = new Writer();

/**
 * The octets of a message, header included. A session may pass a writer of its own, to have its buffer used again.
 * @throws EncodeError when the message is longer than `context.maxSendLength`, or is one that we must not send.
 */
export function encodeMessage(message: Message, context: CodecContext, writer: Writer = scratch): Uint8Array {
  switch (message.type) {
    case 'OPEN':
      return encodeOpen(message, writer);
    case 'UPDATE':
      return encodeUpdate(message, context, writer);
    case 'NOTIFICATION':
      return encodeNotification(message, context, writer);
    case 'KEEPALIVE':
      return encodeKeepalive();
    case 'ROUTE-REFRESH':
      return encodeRouteRefresh(message, context, writer);
    default:
      return message satisfies never;
  }
}
