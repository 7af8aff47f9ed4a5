import type { Asn } from '../types/asn.ts';
import type { IpAddress } from '../types/ip-address.ts';
import type { Prefix } from '../types/prefix.ts';
import type { RouterId } from '../types/router-id.ts';
import { formatScoped } from '../types/zone.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';

/** The peer that a path was learned from, as the decision process needs it. */
export interface PathSource {
  /** The name of the peer, for people. */
  readonly name: string;
  /** The peer address, the last tie-breaker (RFC 4271 section 9.1.2.2 (g)). */
  readonly address: IpAddress;
  /** The link of a link-local peer address, by name (RFC 4007 section 6); no other has one. */
  readonly zone?: string | undefined;
  /** The BGP Identifier of the peer's OPEN. */
  readonly routerId: RouterId;
  readonly asn: Asn;
  /** The peer is in our AS. */
  readonly isInternal: boolean;
}

/** The next hop of a path as text; a link-local one with the link of the session that it came by. Empty without one. */
export function nextHopText({ attributes, from }: Pick<Path, 'attributes' | 'from'>): string {
  return attributes.nextHop === undefined ? '' : formatScoped(attributes.nextHop, from.zone);
}

/** A route in an Adj-RIB-In, after import policy. Never changed: a change of it is another object. */
export interface Path {
  readonly prefix: Prefix;
  /** The path identifier of RFC 7911, 0 where the family carries none. */
  readonly pathId: number;
  /** Interned: `===` is equality. */
  readonly attributes: PathAttributes;
  readonly from: PathSource;
  /** When the path was announced with these attributes, in monotonic milliseconds. */
  readonly learnedAt: number;
  /** The peer is restarting and has not announced the path again yet (RFC 4724 section 4.2). */
  readonly isStale: boolean;
}

/** An announcement that was not taken, and why. */
export interface RejectedPath {
  readonly prefix: Prefix;
  readonly pathId: number;
  readonly reason: string;
}

/** What changed in an Adj-RIB-In. A prefix and path identifier stands in at most one of `announced` and `withdrawn`. */
export interface RouteChange {
  /** New paths, and paths with new attributes. */
  readonly announced: readonly Path[];
  /** Paths that are gone, as they were. */
  readonly withdrawn: readonly Path[];
  /** Announcements that were not taken. A path that such an announcement replaces is in `withdrawn` too. */
  readonly rejected: readonly RejectedPath[];
  /** Stale paths that were announced again with the same attributes, as they are now. Absent when there are none. */
  readonly refreshed?: readonly Path[];
}

/**
 * Decides about one announcement: takes it, possibly with other attributes, or rejects it for a reason that people read.
 * It must not change the attributes that it is given.
 */
export type ImportPolicy = (
  prefix: Prefix,
  attributes: PathAttributes,
  from: PathSource,
) => { accept: true; attributes: PathAttributes } | { accept: false; reason: string };
