import type { Community } from '@bgp-lb/daemon';
import { type Asn, type PathAttributes, SegmentType, WellKnownCommunity } from '@bgp-lb/protocol';
import type { NeighborConfig } from '../config/router-config.ts';

type UpstreamConfig = NeighborConfig & { readonly role: 'upstream' };

/** The worst that there is, for those who compare it before they look at communities. */
const WORST_MED = 0xffff_ffff;

/**
 * What a route has while this load balancer leaves: others are to be preferred (RFC 8326). An upstream that does not know the
 * community has the highest MULTI_EXIT_DISC.
 */
export function asLeaving(attributes: PathAttributes): PathAttributes {
  return {
    ...attributes,
    communities: merged(attributes.communities, [WellKnownCommunity.GracefulShutdown]),
    multiExitDisc: WORST_MED,
  };
}

/** What an upstream is to hear of the VIPs beside their reachability. */
export type ExportPolicy = Pick<UpstreamConfig, 'med' | 'prepend' | 'communities' | 'degraded'>;

/**
 * Puts the policy of one upstream, which is in another AS, on the attributes of a route. LOCAL_PREF is not sent there (RFC 4271 section 5.1.5).
 * @param members how many members of the pool the VIP is forwarded to
 */
export function withExportPolicy(
  attributes: PathAttributes,
  policy: ExportPolicy,
  localAsn: Asn,
  members: number,
): PathAttributes {
  const { communities, degraded } = policy;
  const less = degraded !== undefined && members < degraded.below ? degraded : undefined;
  const prepend = policy.prepend + (less?.prepend ?? 0);
  return {
    ...attributes,
    asPath: prepended(attributes.asPath ?? [], localAsn, prepend),
    multiExitDisc: less?.med ?? policy.med ?? attributes.multiExitDisc,
    communities: merged(attributes.communities, communities.filter(isStandard)),
    largeCommunities: merged(
      attributes.largeCommunities,
      communities.flatMap((one) => (isStandard(one) ? [] : [one])),
    ),
  };
}

type AsPath = NonNullable<PathAttributes['asPath']>;

/** RFC 4271 section 5.1.2 (b): a segment of 255 is full, and a set is not prepended to. */
function prepended(path: AsPath, localAsn: Asn, times: number): AsPath {
  if (times === 0) {
    return path;
  }
  const copies = Array.from({ length: times }, () => localAsn);
  const [first, ...others] = path;
  return first?.type === SegmentType.AsSequence && first.asns.length + times <= 255
    ? [{ type: SegmentType.AsSequence, asns: [...copies, ...first.asns] }, ...others]
    : [{ type: SegmentType.AsSequence, asns: copies }, ...path];
}

function isStandard(one: Community): one is number {
  return typeof one === 'number';
}

/** In the order that makes equal sets equal attributes. */
function merged<T>(there: readonly T[] | undefined, added: readonly T[]): readonly T[] | undefined {
  if (added.length === 0) {
    return there;
  }
  const all = new Map([...(there ?? []), ...added].map((one) => [JSON.stringify(one), one]));
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
