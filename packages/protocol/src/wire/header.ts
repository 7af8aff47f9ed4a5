import { HEADER_LENGTH, MARKER_LENGTH } from './constants.ts';
import { EncodeError } from './errors.ts';
import type { Writer } from './writer.ts';

/**
 * Starts a message (RFC 4271 section 4.1):
 *
 *     | marker, all ones (16) | length (2) | type (1) |
 */
export function beginMessage(writer: Writer, type: number): void {
  writer.reset();
  for (let i = 0; i < MARKER_LENGTH; i += 4) writer.u32(0xffffffff);
  writer.u16(HEADER_LENGTH);
  writer.u8(type);
}

/** Fills in the length and hands the message out. */
export function endMessage(writer: Writer, maxLength: number): Uint8Array {
  if (writer.length > maxLength) {
    throw new EncodeError(`message of ${writer.length} octets: at most ${maxLength} may be sent`);
  }
  writer.set16(MARKER_LENGTH, writer.length);
  return writer.take();
}
