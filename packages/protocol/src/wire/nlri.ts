import type { Family } from '../types/family.ts';
import type { Prefix } from '../types/prefix.ts';
import { clearHostBits } from '../types/prefix.ts';
import { OverrunError } from './errors.ts';
import type { Reader } from './reader.ts';
import type { Writer } from './writer.ts';

/** One entry of Network Layer Reachability Information, with its path identifier where ADD-PATH is in use (RFC 7911 section 3). */
export interface Nlri {
  readonly prefix: Prefix;
  readonly pathId: number | undefined;
}

/** No NLRI: shared, so that an empty field costs nothing. */
export const noNlri: readonly Nlri[] = Object.freeze([]);

/** The field is not syntactically correct (RFC 7606 section 5.3). Never leaves the codec. */
export class NlriError extends Error {
  override readonly name = 'NlriError';
}

/**
 * Reads entries to the end of the reader:
 *
 *     | path identifier (4), with ADD-PATH | length in bits (1) | prefix (just enough octets) |
 *
 * Bits past the length are cleared: RFC 4271 section 4.3 calls their value irrelevant.
 * @throws NlriError when a length exceeds the family's, or the last entry the field.
 */
export function readNlri(reader: Reader, family: Family, withPathId: boolean): readonly Nlri[] {
  if (reader.remaining === 0) return noNlri;
  const entries: Nlri[] = [];
  try {
    while (reader.remaining > 0) {
      const pathId = withPathId ? reader.u32() : undefined;
      entries.push({ prefix: readPrefix(reader, family), pathId });
    }
  } catch (error) {
    if (!(error instanceof OverrunError)) throw error;
    throw new NlriError(`the last ${family.name} prefix passes the end of its field`, { cause: error });
  }
  return entries;
}

function readPrefix(reader: Reader, family: Family): Prefix {
  const length = reader.u8();
  if (length > family.maxPrefixLength) {
    throw new NlriError(`${family.name} prefix length ${length}: allowed 0 to ${family.maxPrefixLength}`);
  }
  const bytes = new Uint8Array(family.maxPrefixLength >> 3);
  reader.copyTo(bytes, (length + 7) >> 3);
  if ((length & 7) !== 0) clearHostBits(bytes, length);
  return { family, bytes, length };
}

/** Writes entries; with ADD-PATH one without a path identifier goes out with 0. */
export function writeNlri(writer: Writer, entries: readonly Nlri[], withPathId: boolean): void {
  for (const { prefix, pathId } of entries) {
    if (withPathId) writer.u32(pathId ?? 0);
    writer.u8(prefix.length);
    writer.bytes(prefix.bytes, (prefix.length + 7) >> 3);
  }
}

/** Octets that `writeNlri` needs for one entry; for packing UPDATEs. */
export function nlriLength(prefix: Prefix, withPathId: boolean): number {
  return (withPathId ? 5 : 1) + ((prefix.length + 7) >> 3);
}
