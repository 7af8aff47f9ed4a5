import {
  type Asn,
  type ExtendedCommunity,
  type IpAddress,
  type LargeCommunity,
  Origin,
  type PathAttributes,
  passedOnAttributes,
  pathAttributes,
  type RouterId,
  SegmentType,
  type SelectedPath,
  WellKnownCommunity,
} from '@bgp-lb/protocol';

/** First local part of the large communities that speakers and routers tell each other things by: identity, reason. */
const OWN_MEANINGS: readonly number[] = [1, 2];
/** Sub-type of the link bandwidth community (draft-ietf-idr-link-bandwidth), an AS-specific one with or without transitivity. */
const LINK_BANDWIDTH = 0x04;

/** This host as next hop of a neighbour. */
export interface NextHop {
  readonly address: IpAddress;
  /** Beside a global one, for a neighbour on our link (RFC 2545 section 3). */
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
 * for it, while an upstream would cut live connections off. Communities of ours and link bandwidth stay behind.
 */
export function memberAttributes(
  { path }: SelectedPath,
  identity: { readonly localAsn: Asn; readonly clusterId: RouterId },
): PathAttributes {
  const passedOn = passedOnAttributes(path, false, identity);
  return {
    ...passedOn,
    multiExitDisc: undefined,
    communities: filled(passedOn.communities?.filter((one) => one !== WellKnownCommunity.GracefulShutdown)),
    largeCommunities: filled(passedOn.largeCommunities?.filter((one) => !isOwn(one, identity.localAsn))),
    extendedCommunities: filled(passedOn.extendedCommunities?.filter((one) => !isLinkBandwidth(one))),
  };
}

function isOwn({ globalAdministrator, localData1 }: LargeCommunity, localAsn: Asn): boolean {
  return globalAdministrator === localAsn && OWN_MEANINGS.includes(localData1);
}

function isLinkBandwidth({ bytes }: ExtendedCommunity): boolean {
  const [type = 0, subtype] = bytes;
  return (type & 0x3f) === 0 && subtype === LINK_BANDWIDTH;
}

function filled<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}
