import type { Asn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import type { IpAddress } from '../types/ip-address.ts';
import type { RouterId } from '../types/router-id.ts';
import type { Nlri } from './nlri.ts';

/** ORIGIN values (RFC 4271 section 4.3). */
export const Origin = { Igp: 0, Egp: 1, Incomplete: 2 } as const;
export type Origin = (typeof Origin)[keyof typeof Origin];

/** AS_PATH segment types (RFC 4271 section 4.3, RFC 5065 section 3). */
export const SegmentType = { AsSet: 1, AsSequence: 2, AsConfedSequence: 3, AsConfedSet: 4 } as const;
export type SegmentType = (typeof SegmentType)[keyof typeof SegmentType];

export interface AsPathSegment {
  readonly type: SegmentType;
  readonly asns: readonly Asn[];
}

/** AGGREGATOR (RFC 4271 section 5.1.7). */
export interface Aggregator {
  readonly asn: Asn;
  readonly address: IpAddress;
}

/** One large community (RFC 8092 section 3): three unsigned 32-bit numbers. */
export interface LargeCommunity {
  readonly globalAdministrator: number;
  readonly localData1: number;
  readonly localData2: number;
}

/** One extended community (RFC 4360 section 2), kept as its 8 octets. */
export interface ExtendedCommunity {
  readonly bytes: Uint8Array;
}

/** Next hop of MP_REACH_NLRI: a global address, for IPv6 with a link-local one beside it where the peer sent it (RFC 2545 section 3). */
export interface MpNextHop {
  readonly address: IpAddress;
  readonly linkLocal: IpAddress | undefined;
}

/** MP_REACH_NLRI (RFC 4760 section 3). */
export interface MpReach<Routes = readonly Nlri[]> {
  readonly family: Family;
  readonly nextHop: MpNextHop;
  readonly nlri: Routes;
}

/** MP_UNREACH_NLRI (RFC 4760 section 4). With no NLRI it is an End-of-RIB marker (RFC 4724 section 2). */
export interface MpUnreach<Routes = readonly Nlri[]> {
  readonly family: Family;
  readonly nlri: Routes;
}

/** An attribute that this library does not know, kept byte for byte. */
export interface RawAttribute {
  readonly code: number;
  readonly flags: number;
  readonly value: Uint8Array;
}

/**
 * The path attributes that describe a route, without its NLRI. One hidden class: every field is always present.
 * Interned by `AttributeTable`: there, identity is equality.
 */
export interface PathAttributes {
  readonly origin: Origin | undefined;
  readonly asPath: readonly AsPathSegment[] | undefined;
  /** NEXT_HOP, or the next hop of the MP_REACH_NLRI that the route came in. */
  readonly nextHop: IpAddress | undefined;
  /** The link-local next hop beside a global one (RFC 2545 section 3). */
  readonly linkLocalNextHop: IpAddress | undefined;
  readonly multiExitDisc: number | undefined;
  readonly localPref: number | undefined;
  readonly atomicAggregate: true | undefined;
  readonly aggregator: Aggregator | undefined;
  /** Each an unsigned 32-bit number (RFC 1997). */
  readonly communities: readonly number[] | undefined;
  readonly originatorId: RouterId | undefined;
  /** CLUSTER_IDs, each an unsigned 32-bit number: most often a BGP Identifier, but nothing says so (RFC 4456 section 7). */
  readonly clusterList: readonly number[] | undefined;
  readonly extendedCommunities: readonly ExtendedCommunity[] | undefined;
  readonly largeCommunities: readonly LargeCommunity[] | undefined;
  readonly unknown: readonly RawAttribute[];
  /**
   * Type codes of those above that are optional and transitive and came with the Partial bit, which no speaker may take away again
   * (RFC 4271 section 5). One that is not there says nothing.
   */
  readonly partial: readonly number[] | undefined;
}

const none: PathAttributes = {
  origin: undefined,
  asPath: undefined,
  nextHop: undefined,
  linkLocalNextHop: undefined,
  multiExitDisc: undefined,
  localPref: undefined,
  atomicAggregate: undefined,
  aggregator: undefined,
  communities: undefined,
  originatorId: undefined,
  clusterList: undefined,
  extendedCommunities: undefined,
  largeCommunities: undefined,
  unknown: Object.freeze([]),
  partial: undefined,
};

/** Attributes with the given fields set and all others absent. */
export function pathAttributes(fields: Partial<PathAttributes>): PathAttributes {
  return { ...none, ...fields };
}
