import { parseIpAddress, parsePrefix, prefixContains, withoutZone } from '@bgp-lb/protocol';
import type { KernelChange } from './kernel-host.ts';

/** RTPROT_KERNEL: routes that come with an address. They decide how a next hop is reached. */
const KERNEL_ROUTES = 2;

/**
 * Whether a change of a route is a reason to look at the kernel: it is ours, it came with an address, it is for a VIP, or
 * it is more than the default route and leads to a next hop, so that this may be behind another interface now.
 */
export function concerns(
  { destination, protocol }: KernelChange,
  ownProtocol: number,
  vips: ReadonlyMap<string, unknown>,
  nextHops: ReadonlySet<string>,
): boolean {
  if (protocol === ownProtocol || protocol === KERNEL_ROUTES || destination === undefined) {
    return protocol === ownProtocol || protocol === KERNEL_ROUTES;
  }
  if (vips.has(destination)) {
    return true;
  }
  const prefix = parsePrefix(destination);
  return (
    prefix.length > 0 &&
    [...nextHops].some((nextHop) => prefixContains(prefix, parseIpAddress(withoutZone(nextHop))))
  );
}
