import {
  equalIpAddress,
  formatIpAddress,
  formatPrefix,
  type ImportPolicy,
  type IpAddress,
  isLinkLocal,
  Origin,
  type PathAttributes,
  type PathSource,
  type Prefix,
} from '@bgp-lb/protocol';

/** Whether a prefix is that of a configured VIP. */
export type IsVip = (prefix: Prefix) => boolean;

/** LOCAL_PREF of every path that does not ask for less (RFC 4271 section 5.1.5 leaves the number to us). */
const LOCAL_PREF = 100;

/**
 * What is imported from a master: the configured VIPs, with the session's peer itself as next hop, and nothing
 * else (invariant 4). A refusal says what was refused.
 * @param isVip whether a prefix is that of a VIP at the moment
 * @param memberAddress the next hop that is taken too, and that its paths get in any case
 */
export function masterImportPolicy(isVip: IsVip, memberAddress?: IpAddress): ImportPolicy {
  return (prefix, attributes, from) => {
    if (!isVip(prefix)) {
      return { accept: false, reason: `not a configured VIP: ${formatPrefix(prefix)}` };
    }
    const nextHop = ownNextHop(attributes, from);
    const mayBe = [from.address, ...(memberAddress === undefined ? [] : [memberAddress])];
    if (nextHop === undefined || !mayBe.some((address) => equalIpAddress(nextHop, address))) {
      const got = nextHop === undefined ? 'none' : formatIpAddress(nextHop);
      return { accept: false, reason: `next hop is not the peer: ${got}` };
    }
    return { accept: true, attributes: normalised(attributes, memberAddress ?? nextHop) };
  };
}

/**
 * The next hop by which the peer means itself. Over a session between link-local addresses that is the link-local one, whatever
 * global one comes beside it (RFC 2545 section 3); over any other the global one.
 */
function ownNextHop({ nextHop, linkLocalNextHop }: PathAttributes, from: PathSource): IpAddress | undefined {
  return isLinkLocal(from.address) ? (linkLocalNextHop ?? nextHop) : nextHop;
}

/**
 * No master is better than another by what it says of itself: ORIGIN, MULTI_EXIT_DISC and LOCAL_PREF are the same for
 * all, but for the LOCAL_PREF of 0 that asks for less (RFC 8326 section 4). What only it knows is not
 * passed on in its name. Packets go by the next hop that was checked, never by another one that comes beside it
 * (RFC 2545 section 3): that is not vouched for.
 */
function normalised(attributes: PathAttributes, nextHop: IpAddress): PathAttributes {
  const { localPref } = attributes;
  return {
    ...attributes,
    origin: Origin.Igp,
    nextHop,
    linkLocalNextHop: undefined,
    multiExitDisc: undefined,
    localPref: localPref === undefined || localPref === 0 ? localPref : LOCAL_PREF,
    atomicAggregate: undefined,
    aggregator: undefined,
    unknown: [],
  };
}

/** What is imported from another router of our AS: the configured VIPs. Its next hops are not its own, and make no member. */
export function internalImportPolicy(isVip: IsVip): ImportPolicy {
  return (prefix, attributes) =>
    isVip(prefix)
      ? { accept: true, attributes }
      : { accept: false, reason: `not a configured VIP: ${formatPrefix(prefix)}` };
}

/** What is imported from an upstream router: nothing (its import policy, RFC 8212 section 3). */
export const upstreamImportPolicy: ImportPolicy = () => ({
  accept: false,
  reason: 'nothing is imported from an upstream',
});

/** The class of a refusal for metrics: the part of its reason before the value. */
export function rejectionClass(reason: string): string {
  return reason.split(':', 1)[0] ?? reason;
}
