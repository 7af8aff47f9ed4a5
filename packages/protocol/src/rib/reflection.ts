import type { Asn } from '../types/asn.ts';
import type { RouterId } from '../types/router-id.ts';
import { isLinkLocal } from '../types/zone.ts';
import { WellKnownCommunity } from '../wire/attribute/communities.ts';
import type { AsPathSegment, ExtendedCommunity, PathAttributes } from '../wire/path-attributes.ts';
import { SegmentType } from '../wire/path-attributes.ts';
import type { Path } from './path.ts';

/** A neighbor as a route reflector sees it. */
export interface ReflectionPeer {
  /** As in `PathSource`. */
  readonly name: string;
  /** The BGP Identifier of its OPEN. */
  readonly routerId: RouterId;
  readonly isInternal: boolean;
  /** A client of RFC 4456; says nothing about an external peer. */
  readonly isClient: boolean;
  /** As in `PathSource`. */
  readonly zone?: string | undefined;
}

/** Who reflects. */
export interface ReflectorIdentity {
  readonly localAsn: Asn;
  /** CLUSTER_ID (RFC 4456 section 7). */
  readonly clusterId: RouterId;
}

/** LOCAL_PREF of a path that came from another AS without policy to say what it is. */
const DEFAULT_LOCAL_PREF = 100;

/**
 * Why a path does not go to a peer, or `undefined` when it does: the rules of RFC 4456 section 6, those of RFC 4271
 * section 9.2 for what is not reflected, and the communities of RFC 1997.
 * @param from The peer that the path was learned from; `isClient` of an external one says nothing.
 */
export function reflectionRefusal(
  path: Path,
  from: Pick<ReflectionPeer, 'isClient'>,
  to: ReflectionPeer,
): string | undefined {
  if (path.from.name === to.name) return 'it came from there';
  if (path.attributes.originatorId === to.routerId) return 'it is the originator';
  return kindRefusal(path, from, to);
}

/** As `reflectionRefusal`, but for what is said of one peer alone: the same for all peers of a kind. */
export function kindRefusal(
  path: Path,
  from: Pick<ReflectionPeer, 'isClient'>,
  to: Pick<ReflectionPeer, 'isInternal' | 'isClient' | 'zone'>,
): string | undefined {
  const { attributes } = path;
  const isInternalOnly = path.from.isInternal && to.isInternal;
  if (isInternalOnly && !from.isClient && !to.isClient) return 'both are non-clients';
  const { communities, nextHop } = attributes;
  // RFC 2545 section 3: to others than those on its link such an address says nothing, or names another host.
  const isOnOneLink = nextHop !== undefined && isLinkLocal(nextHop);
  if (isOnOneLink && (path.from.zone === undefined || path.from.zone !== to.zone)) {
    return 'its link-local next hop is on another link';
  }
  if (communities === undefined) return undefined;
  if (communities.includes(WellKnownCommunity.NoAdvertise)) return 'NO_ADVERTISE';
  if (to.isInternal) return undefined;
  if (communities.includes(WellKnownCommunity.NoExport)) return 'NO_EXPORT';
  if (communities.includes(WellKnownCommunity.NoExportSubconfed)) return 'NO_EXPORT_SUBCONFED';
  return undefined;
}

/**
 * The attributes that a path is passed on with. Between internal peers nothing is changed but ORIGINATOR_ID, where there
 * is none, and CLUSTER_LIST, which our cluster is put in front of (RFC 4456 sections 8 and 10). Towards another AS ours is
 * prepended, and what belongs to one AS stays behind. The next hop is always left alone, but for a link-local address beside
 * it: that is for those who share a link with the next hop (RFC 2545 section 3), and one that does not would look for it on a
 * link of its own.
 */
export function passedOnAttributes(
  path: Path,
  toInternal: boolean,
  { localAsn, clusterId }: ReflectorIdentity,
): PathAttributes {
  const { from } = path;
  const attributes = { ...path.attributes, linkLocalNextHop: undefined };
  if (!toInternal) {
    return {
      ...attributes,
      asPath: prepend(localAsn, attributes.asPath ?? []),
      // RFC 4271 sections 5.1.4 and 5.1.5; RFC 4456 section 8.
      multiExitDisc: undefined,
      localPref: undefined,
      originatorId: undefined,
      clusterList: undefined,
      extendedCommunities: transitiveOnes(attributes.extendedCommunities),
    };
  }
  if (!from.isInternal) return { ...attributes, localPref: attributes.localPref ?? DEFAULT_LOCAL_PREF };
  return {
    ...attributes,
    originatorId: attributes.originatorId ?? from.routerId,
    clusterList: [clusterId, ...(attributes.clusterList ?? [])],
  };
}

/** RFC 4360 section 6: those with the T bit (section 2) do not cross the border of the AS. */
function transitiveOnes(
  communities: readonly ExtendedCommunity[] | undefined,
): readonly ExtendedCommunity[] | undefined {
  const kept = communities?.filter(({ bytes: [type = 0] }) => (type & 0x40) === 0);
  return kept?.length === 0 ? undefined : kept;
}

/** RFC 4271 section 5.1.2 (b): a segment of 255 is full, and a set is not prepended to. */
function prepend(asn: Asn, segments: readonly AsPathSegment[]): readonly AsPathSegment[] {
  const [first, ...others] = segments;
  if (first?.type === SegmentType.AsSequence && first.asns.length < 255) {
    return [{ type: SegmentType.AsSequence, asns: [asn, ...first.asns] }, ...others];
  }
  return [{ type: SegmentType.AsSequence, asns: [asn] }, ...segments];
}
