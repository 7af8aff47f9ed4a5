import type { InterfaceAddress } from './interface-address.ts';
import { ipVersion } from './internet-address.ts';
import type { Link } from './link.ts';

/** IFF_NOARP (netdevice(7)): the link does not answer ARP. */
const IFF_NOARP = 0x80;

/**
 * The links that could answer ARP for an address of this host: those that speak ARP and have an IPv4 address. Others
 * (bond slaves, bridge ports, the far ends of pods) never answer.
 */
export function arpLinks(links: readonly Link[], addresses: readonly InterfaceAddress[]): readonly Link[] {
  const withIpv4 = new Set(
    addresses.filter(({ address }) => ipVersion(address) === 4).map(({ index }) => index),
  );
  return links.filter(
    (link) => withIpv4.has(link.index) && !link.isLoopback && (link.flags & IFF_NOARP) === 0,
  );
}
