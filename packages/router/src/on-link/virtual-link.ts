import type { Link } from '@bgp-lb/linux';
import { parseIpAddress } from '@bgp-lb/protocol';

/** What is noted on a device of ours, by which it is known again. */
const ALIAS = 'bgp-lb: answers for ';

/** A device that answers for one VIP on one link, as it should be. */
export interface VirtualLink {
  /** At most 15 octets. */
  readonly name: string;
  /** Its link-layer address, which is the same on every load balancer. */
  readonly linkAddress: string;
  readonly alias: string;
}

/**
 * The link-layer address that goes with a VIP: a locally administered one of an IPv4 address itself, or of a digest of an IPv6 address
 * (FNV-1a, 32 bits). A load balancer with the same VIP finds the same one, and nothing need be configured.
 */
export function sharedLinkAddress(address: string): string {
  const { bytes } = parseIpAddress(address);
  const isIpv4 = bytes.length === 4;
  let digest = 0x811c9dc5;
  for (const octet of bytes) digest = Math.imul(digest ^ octet, 0x01000193) >>> 0;
  const end = isIpv4 ? [...bytes] : [24, 16, 8, 0].map((shift) => (digest >>> shift) & 0xff);
  return [0x02, isIpv4 ? 0xb4 : 0xb6, ...end].map((octet) => octet.toString(16).padStart(2, '0')).join(':');
}

/** @param parent the index of the link that it is on */
export function virtualLinkOf(address: string, parent: number): VirtualLink {
  const linkAddress = sharedLinkAddress(address);
  const digits = linkAddress.slice(3).replaceAll(':', '');
  return { name: `v${digits}-${parent.toString(36)}`.slice(0, 15), linkAddress, alias: `${ALIAS}${address}` };
}

/** Whether a link is a device of ours. */
export function isVirtualLink({ kind, alias }: Link): boolean {
  return kind === 'macvlan' && alias?.startsWith(ALIAS) === true;
}

/** Why no device with a link-layer address of its own can be on a link; `undefined` when nothing speaks against it. */
export function virtualLinkFault(
  link: Link,
  links: readonly Link[],
  isWireless: boolean,
): string | undefined {
  if (isWireless) {
    return `${link.name} is wireless: an access point knows one link-layer address for each station; use proxyMode: responder`;
  }
  const master = links.find(({ index }) => index === link.master);
  if (master?.kind === 'bridge' || master?.kind === 'bond' || master?.kind === 'team') {
    return `${link.name} is a port of the ${master.kind} ${master.name}, and cannot carry a macvlan: name ${master.name} in dataplane.proxyInterfaces`;
  }
  if (isVirtualLink(link)) return `${link.name} is a device of ours: name the interface that it is on`;
  if (link.kind === 'ipvlan') {
    return `${link.name} is an ipvlan, which has no link-layer address of its own; use proxyMode: responder`;
  }
  return undefined;
}
