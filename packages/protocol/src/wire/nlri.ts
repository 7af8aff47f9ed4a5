import type { Prefix } from '../types/prefix.ts';
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
