import type { InterfaceAddress, Link } from '@bgp-lb/linux';

/** IFF_NOARP (netdevice(7)): the link does not answer ARP. */
const IFF_NOARP = 0x80;

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

/**
 * The links that could answer ARP for a VIP on `lo`: those that speak ARP and have an IPv4 address. Others (bond slaves,
 * bridge ports, the far ends of pods) never answer for an address of this host.
 */
export function arpLinks(links: readonly Link[], addresses: readonly InterfaceAddress[]): readonly Link[] {
  const withIpv4 = new Set(
    addresses.filter(({ address }) => !address.includes(':')).map(({ index }) => index),
  );
  return links.filter(
    (link) => withIpv4.has(link.index) && !link.isLoopback && (link.flags & IFF_NOARP) === 0,
  );
}
