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
import type { VipConfig } from '../config/speaker-config.ts';
import type { Advertisement } from '../lifecycle/vip-state.ts';

/** First local data of our large communities (RFC 8092): what the second one means. */
const Meaning = {
  /** The second is the cluster's identity: the first 32 bits of the SHA-256 of a CA public key. */
  Identity: 1,
  /** The second says why less is asked for. */
  Reason: 2,
  /** The second is `NO_VIP`: packets for the VIP are not answered here. */
  Binding: 3,
} as const;

const NO_VIP = 1;

/** Why a path asks for less: second local data of ASN:2:code. */
const Reason = { Draining: 1, LastResort: 2 } as const;

const LOCAL_PREF = 100;

export interface AdvertisementInput {
  /** What the operator wants of this VIP's path. */
  readonly vip: Pick<VipConfig, 'localPref' | 'med' | 'communities'>;
  readonly localAsn: Asn;
  /** The router is in our AS. */
  readonly isInternal: boolean;
  /** Our address of the session. */
  readonly nextHop: IpAddress;
  /** Our link-local address beside it: for IPv6 and a router on our link (RFC 2545 section 3). */
  readonly linkLocalNextHop?: IpAddress | undefined;
  readonly advertisement: Exclude<Advertisement, 'none'>;
  /** SHA-256 of the SubjectPublicKeyInfo of each CA certificate, in hexadecimal. */
  readonly caKeys: readonly string[];
  /** The VIP is on this master while it serves. */
  readonly isVipBound: boolean;
}

/**
 * The attributes that a VIP is advertised with. A path that is a last resort or drains carries GRACEFUL_SHUTDOWN and, in
 * our own AS, LOCAL_PREF 0 (RFC 8326 section 4), so that any BGP speaker prefers the others.
 */
export function advertisementAttributes(input: AdvertisementInput): PathAttributes {
  const { localAsn, isInternal, nextHop, linkLocalNextHop, advertisement, vip } = input;
  const isLesser = advertisement !== 'normal';
  return pathAttributes({
    origin: Origin.Igp,
    asPath: isInternal ? [] : [{ type: SegmentType.AsSequence, asns: [localAsn] }],
    nextHop,
    linkLocalNextHop,
    multiExitDisc: vip.med,
    // LOCAL_PREF stays within the AS (RFC 4271 section 5.1.5).
    localPref: isInternal ? (isLesser ? 0 : (vip.localPref ?? LOCAL_PREF)) : undefined,
    communities: communities(input, isLesser),
    largeCommunities: largeCommunities(input),
  });
}

function communities({ vip }: AdvertisementInput, isLesser: boolean): readonly number[] | undefined {
  const wanted = new Set((vip.communities ?? []).filter((one) => typeof one === 'number'));
  if (isLesser) wanted.add(WellKnownCommunity.GracefulShutdown);
  return wanted.size === 0 ? undefined : [...wanted].sort((a, b) => a - b);
}

function largeCommunities({
  localAsn,
  advertisement,
  caKeys,
  vip,
  isVipBound,
}: AdvertisementInput): readonly LargeCommunity[] {
  const of = (localData1: number, localData2: number): LargeCommunity => ({
    globalAdministrator: localAsn,
    localData1,
    localData2,
  });
  const identities = [...new Set(caKeys.map(identityOf))]
    .sort((a, b) => a - b)
    .map((id) => of(Meaning.Identity, id));
  const wanted = (vip.communities ?? []).filter((one) => typeof one !== 'number');
  const own = [...identities, ...wanted, ...(isVipBound ? [] : [of(Meaning.Binding, NO_VIP)])];
  if (advertisement === 'normal') return own;
  return [...own, of(Meaning.Reason, advertisement === 'draining' ? Reason.Draining : Reason.LastResort)];
}

/** The first 32 bits of a SHA-256 in hexadecimal. */
function identityOf(keyHash: string): number {
  return Number.parseInt(keyHash.slice(0, 8), 16);
}
