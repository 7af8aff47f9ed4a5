import type { InterfaceAddress, Link } from '@bgp-lb/linux';

/**
 * The links that VIP traffic from the routers comes in by: those that have the node's address, and those by which the
 * routers are reached. Names, sorted.
 */
export function uplinks(
  links: readonly Link[],
  addresses: readonly InterfaceAddress[],
  nodeAddress: string,
  routerInterfaces: readonly number[],
): readonly string[] {
  const indices = new Set(routerInterfaces);
  for (const { address, index } of addresses) if (address === nodeAddress) indices.add(index);
  return links
    .filter((link) => indices.has(link.index) && !link.isLoopback)
    .map(({ name }) => name)
    .sort();
}
