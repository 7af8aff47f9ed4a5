import {
  equalIpAddress,
  formatIpAddress,
  formatPrefix,
  type ImportPolicy,
  type Prefix,
  prefixKey,
} from '@bgp-lb/protocol';

/**
 * What is imported from a master: the configured VIPs, with the session's peer itself as next hop, and nothing
 * else (invariant 4). A refusal says what was refused.
 */
export function masterImportPolicy(vips: readonly Prefix[]): ImportPolicy {
  const allowed = new Set(vips.map(prefixKey));
  return (prefix, attributes, from) => {
    if (!allowed.has(prefixKey(prefix))) {
      return { accept: false, reason: `not a configured VIP: ${formatPrefix(prefix)}` };
    }
    const { nextHop } = attributes;
    if (nextHop === undefined || !equalIpAddress(nextHop, from.address)) {
      const got = nextHop === undefined ? 'none' : formatIpAddress(nextHop);
      return { accept: false, reason: `next hop is not the peer: ${got}` };
    }
    return { accept: true, attributes };
  };
}

/** What is imported from another router of our AS: the configured VIPs. Its next hops are not its own, and make no member. */
export function internalImportPolicy(vips: readonly Prefix[]): ImportPolicy {
  const allowed = new Set(vips.map(prefixKey));
  return (prefix, attributes) =>
    allowed.has(prefixKey(prefix))
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
