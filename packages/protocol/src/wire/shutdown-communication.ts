import { decodeUtf8, encodeUtf8 } from '../types/utf8.ts';

const MAX_TEXT_LENGTH = 255;

/**
 * Data of a Cease NOTIFICATION with a text for the other operator (RFC 9003 section 2):
 *
 *     | length (1) | UTF-8 text (at most 255 octets) |
 *
 * A longer text is cut before the first character that does not fit.
 */
export function shutdownCommunication(text: string): Uint8Array {
  const encoded = encodeUtf8(text, MAX_TEXT_LENGTH);
  const data = new Uint8Array(1 + encoded.length);
  data[0] = encoded.length;
  data.set(encoded, 1);
  return data;
}

/**
 * The text of a received Cease NOTIFICATION, fit for a log line or a terminal, or `undefined` when there is none.
 * Octets that are not UTF-8 become U+FFFD; control and direction characters become escapes such as `\u{a}`.
 * A length that passes the data (RFC 9003 section 4) yields the octets that are there.
 */
export function parseShutdownCommunication(data: Uint8Array): string | undefined {
  const length = data[0] ?? 0;
  const encoded = data.subarray(1, 1 + length);
  return encoded.length === 0 ? undefined : harmless(decodeUtf8(encoded));
}

/** Cc, Cf (which holds the bidirectional overrides), and the line separators that are neither. */
const dangerous = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

function harmless(text: string): string {
  return text.replace(dangerous, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
