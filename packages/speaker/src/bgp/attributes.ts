import {
  type Asn,
  type IpAddress,
  type LargeCommunity,
  Origin,
  type PathAttributes,
  pathAttributes,
  SegmentType,
  WellKnownCommunity,
} from '@bgp-lb/protocol';
import type { Advertisement } from '../lifecycle/vip-state.ts';

/** First local data of our large communities (RFC 8092): what the second one means. */
const Meaning = {
  /** The second is the cluster's identity: the first 32 bits of the SHA-256 of a CA public key. */
  Identity: 1,
  /** The second says why less is asked for. */
  Reason: 2,
} as const;

/** Why a path asks for less: second local data of ASN:2:code. */
const Reason = { Draining: 1, LastResort: 2 } as const;

const LOCAL_PREF = 100;

export interface AdvertisementInput {
  readonly localAsn: Asn;
  /** The router is in our AS. */
  readonly isInternal: boolean;
  /** Our address of the session. */
  readonly nextHop: IpAddress;
  readonly advertisement: Exclude<Advertisement, 'none'>;
  /** SHA-256 of the SubjectPublicKeyInfo of each CA certificate, in hexadecimal. */
  readonly caKeys: readonly string[];
}

/**
 * The attributes that a VIP is advertised with. A path that is a last resort or drains carries GRACEFUL_SHUTDOWN and, in
 * our own AS, LOCAL_PREF 0 (RFC 8326 section 4), so that any BGP speaker prefers the others.
 */
export function advertisementAttributes(input: AdvertisementInput): PathAttributes {
  const { localAsn, isInternal, nextHop, advertisement } = input;
  const isLesser = advertisement !== 'normal';
  return pathAttributes({
    origin: Origin.Igp,
    asPath: isInternal ? [] : [{ type: SegmentType.AsSequence, asns: [localAsn] }],
    nextHop,
    // LOCAL_PREF stays within the AS (RFC 4271 section 5.1.5).
    localPref: isInternal ? localPref(isLesser) : undefined,
    communities: isLesser ? [WellKnownCommunity.GracefulShutdown] : undefined,
    largeCommunities: largeCommunities(input),
  });
}

function localPref(isLesser: boolean): number {
  return isLesser ? 0 : LOCAL_PREF;
}

function largeCommunities({
  localAsn,
  advertisement,
  caKeys,
}: AdvertisementInput): readonly LargeCommunity[] {
  const of = (localData1: number, localData2: number): LargeCommunity => ({
    globalAdministrator: localAsn,
    localData1,
    localData2,
  });
  const identities = [...new Set(caKeys.map(identityOf))]
    .sort((a, b) => a - b)
    .map((id) => of(Meaning.Identity, id));
  if (advertisement === 'normal') return identities;
  return [
    ...identities,
    of(Meaning.Reason, advertisement === 'draining' ? Reason.Draining : Reason.LastResort),
  ];
}

/** The first 32 bits of a SHA-256 in hexadecimal. */
function identityOf(keyHash: string): number {
  return Number.parseInt(keyHash.slice(0, 8), 16);
}
