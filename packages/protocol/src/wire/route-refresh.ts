import { HEADER_LENGTH, MessageType } from './constants.ts';
import type { CodecContext } from './context.ts';
import { NotificationError } from './errors.ts';
import { beginMessage, endMessage } from './header.ts';
import type { RouteRefreshMessage } from './message.ts';
import { MessageHeaderSubcode, NotificationCode, RouteRefreshSubcode } from './notification-codes.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

const BODY_LENGTH = 4;

/** Message Subtype of ROUTE-REFRESH (RFC 7313 section 3.2). */
export const RouteRefreshSubtype = { Request: 0, Beginning: 1, End: 2 } as const;

/**
 * ROUTE-REFRESH (RFC 2918 section 3; RFC 7313 section 3.2 gave the reserved octet its meaning):
 *
 *     | AFI (2) | subtype (1) | SAFI (1) |
 *
 * What follows are outbound route filters (RFC 5291 section 5), which we never offer: they are ignored, and the request is answered, so
 * that the sender has more than it asked for. Only for the subtypes of RFC 7313 the length is known for good.
 */
export function decodeRouteRefresh(reader: Reader, context: CodecContext): RouteRefreshMessage {
  const { remaining } = reader;
  if (remaining < BODY_LENGTH) throw wrongLength(reader, remaining, context);
  const afi = reader.u16();
  const subtype = reader.u8();
  const safi = reader.u8();
  // RFC 7313 section 5. Before it the octet was reserved.
  const isMark = subtype === RouteRefreshSubtype.Beginning || subtype === RouteRefreshSubtype.End;
  if (context.enhancedRouteRefresh === true && isMark && reader.remaining > 0)
    throw wrongLength(reader, remaining, context);
  return { type: 'ROUTE-REFRESH', afi, safi, subtype };
}

/** RFC 7313 section 5 answers with its own code, and the whole message, where its capability was received. */
function wrongLength(reader: Reader, bodyLength: number, context: CodecContext): NotificationError {
  const length = HEADER_LENGTH + bodyLength;
  const reason = `ROUTE-REFRESH of ${length} octets: expected ${HEADER_LENGTH + BODY_LENGTH}`;
  if (context.enhancedRouteRefresh === true) {
    return new NotificationError(
      NotificationCode.RouteRefreshMessageError,
      RouteRefreshSubcode.InvalidMessageLength,
      reader.slice(0, length),
      reason,
    );
  }
  return new NotificationError(
    NotificationCode.MessageHeaderError,
    MessageHeaderSubcode.BadMessageLength,
    Uint8Array.of(length >> 8, length),
    reason,
  );
}

export function encodeRouteRefresh(
  message: RouteRefreshMessage,
  context: CodecContext,
  writer: Writer,
): Uint8Array {
  beginMessage(writer, MessageType.RouteRefresh);
  writer.u16(message.afi);
  writer.u8(message.subtype);
  writer.u8(message.safi);
  return endMessage(writer, context.maxSendLength);
}
