import { type Community, isWellKnownCommunity } from '@bgp-lb/daemon';
import {
  type Asn,
  type IpAddress,
  type LargeCommunity,
  Origin,
  type PathAttributes,
  passedOnAttributes,
  pathAttributes,
  type RouterId,
  SegmentType,
  type SelectedPath,
} from '@bgp-lb/protocol';

/** This host as next hop of a neighbor. */
export interface NextHop {
  readonly address: IpAddress;
  /** Beside a global one, for a neighbor on our link (RFC 2545 section 3). */
  readonly linkLocal?: IpAddress;
}

/** What a VIP is originated with: this host as next hop, and nothing that changes with the members. */
export function originatedAttributes(localAsn: Asn, nextHop: NextHop): PathAttributes {
  const { address, linkLocal } = nextHop;
  return pathAttributes({
    origin: Origin.Igp,
    asPath: [{ type: SegmentType.AsSequence, asns: [localAsn] }],
    nextHop: address,
    linkLocalNextHop: linkLocal,
  });
}

/**
 * What a member's path is passed on with towards an upstream that shall spread over the members itself. All are equally
 * good there: what a speaker asks for by GRACEFUL_SHUTDOWN and LOCAL_PREF 0 is for this router, which has a weight
 * for it, while an upstream would cut live connections off. Nothing else that a master may say gets there either: the one that owns
 * one would have the VIP dropped by BLACKHOLE (RFC 7999), or a session ended by an attribute that we do not know and others do.
 * @param allowed the communities that stay
 */
export function memberAttributes(
  { path }: SelectedPath,
  identity: { readonly localAsn: Asn; readonly clusterId: RouterId },
  allowed: readonly Community[],
): PathAttributes {
  const { asPath, nextHop, communities, largeCommunities } = passedOnAttributes(path, false, identity);
  const standard = new Set(allowed.filter((one) => typeof one === 'number'));
  return pathAttributes({
    origin: Origin.Igp,
    asPath,
    nextHop,
    communities: filled(communities?.filter((one) => standard.has(one) && !isWellKnownCommunity(one))),
    largeCommunities: filled(
      largeCommunities?.filter((one) => allowed.some((other) => isSameLarge(one, other))),
    ),
  });
}

function isSameLarge(one: LargeCommunity, other: Community): boolean {
  return (
    typeof other !== 'number' &&
    one.globalAdministrator === other.globalAdministrator &&
    one.localData1 === other.localData1 &&
    one.localData2 === other.localData2
  );
}

function filled<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}
