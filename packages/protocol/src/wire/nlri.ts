import type { Prefix } from '../types/prefix.ts';

/** One entry of Network Layer Reachability Information, with its path identifier where ADD-PATH is in use (RFC 7911 section 3). */
export interface Nlri {
  readonly prefix: Prefix;
  readonly pathId: number | undefined;
}
