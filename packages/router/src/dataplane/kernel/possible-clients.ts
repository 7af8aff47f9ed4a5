import { type InterfaceAddress, type Link, NetlinkError, type RouteSocket, type Rule } from '@bgp-lb/linux';
import { formatIpAddress, ipAddress, ipVersion, parseIpAddress, withoutZone, zoneOf } from '@bgp-lb/protocol';

/** What tells by which interfaces clients come. */
export interface Uplinks {
  /** Addresses of the routers that have the VIPs from us, a link-local one with its zone: clients come by the interfaces towards them. */
  readonly upstreams: readonly string[];
  /** Names of interfaces whose subnets have clients. */
  readonly proxyInterfaces: readonly string[];
  /** Names of interfaces by which clients have begun connections to a VIP of this version of late. Asked only where it matters. */
  readonly arrivals: (version: 4 | 6) => ReadonlySet<string>;
}

/** A client that may be. */
export interface Client {
  readonly source: string;
  readonly link: Pick<Link, 'index' | 'name'>;
  /** It comes by an interface that clients are known to come by, or may come by where none is known, and stands for others there. */
  readonly isOfUplink: boolean;
  /** It stands for those alone that a rule asks for. */
  readonly isByRule: boolean;
}

type Socket = Pick<RouteSocket, 'routeOf' | 'routeTo' | 'links' | 'addresses'>;

/**
 * One for each subnet of each interface: a neighbor there, or the upstream itself where the interface has no subnet.
 * @returns `areAll`: no interface that clients are known to come by is without one
 */
export function clientsByUplinks(
  version: 4 | 6,
  socket: Socket,
  { upstreams, proxyInterfaces, arrivals }: Uplinks,
): { readonly clients: readonly Client[]; readonly areAll: boolean } {
  const links = socket
    .links()
    .filter(({ isUp, hasCarrier, isLoopback }) => isUp && hasCarrier && !isLoopback);
  const towards = upstreams.map((upstream) => ({ upstream, ways: interfacesTo(upstream, links, socket) }));
  const isUplink = ({ index, name }: Link): boolean =>
    proxyInterfaces.includes(name) || towards.some(({ ways }) => ways.has(index));
  // Without upstreams that have the VIPs from us nothing draws clients but the routes of others: most come by the default route, then.
  const byDefault = interfacesTo(ELSEWHERE[version], links, socket);
  const hasUpstream = towards.some(({ ways }) => ways.size > 0);
  const seen = hasUpstream ? new Set<string>() : arrivals(version);
  const likely = links.filter(
    (link) => isUplink(link) || (!hasUpstream && (byDefault.has(link.index) || seen.has(link.name))),
  );
  const known = likely.length === 0 ? undefined : likely;
  const addresses = socket.addresses();
  const own = new Set(addresses.map(({ address }) => address));
  const clients = links.flatMap((link) => {
    const neighbors = addresses
      .filter(({ index }) => index === link.index)
      .flatMap((address) => neighborOf(address, version, own) ?? []);
    const routers = towards
      .filter(({ upstream, ways }) => ways.has(link.index) && isSource(upstream, version))
      .map(({ upstream }) => upstream);
    const sources = new Set(neighbors.length > 0 ? neighbors : routers);
    const isOfUplink = known === undefined || known.includes(link);
    return [...sources].map((source) => ({ source, link, isOfUplink, isByRule: false }));
  });
  const areAll = (known ?? []).every((link) => clients.some((one) => one.link === link));
  return { clients, areAll: areAll && clients.some(({ isOfUplink }) => isOfUplink) };
}

/** Indexes of the interfaces that packets to an upstream may leave by, all of them where its route has several next hops. */
function interfacesTo(upstream: string, links: readonly Link[], socket: Socket): ReadonlySet<number> {
  const zone = zoneOf(upstream);
  if (zone !== undefined) {
    return new Set(links.filter(({ name }) => name === zone).map(({ index }) => index));
  }
  try {
    const route = socket.routeOf({ destination: upstream, destinationPort: BGP_PORT });
    const hops = [route?.interfaceIndex, ...(route?.hops ?? []).map(({ interfaceIndex }) => interfaceIndex)];
    return new Set(links.map(({ index }) => index).filter((index) => hops.includes(index)));
  } catch (error) {
    if (error instanceof NetlinkError && error.isAnswer) return new Set();
    throw error;
  }
}

const BGP_PORT = 179;
/** Of the networks for documentation: only a default route leads there. */
const ELSEWHERE = { 4: '192.0.2.1', 6: '2001:db8::1' } as const;

function isSource(address: string, version: 4 | 6): boolean {
  return zoneOf(address) === undefined && versionOf(address) === version;
}

const versionOf = (address: string): 4 | 6 => ipVersion(withoutZone(address));

/** Another host of the subnet, which is not this one. Both addresses of a /31 and of a /127 are hosts (RFC 3021 section 2.1, RFC 6164 section 6). */
function neighborOf(
  { address, scope, prefixLength }: InterfaceAddress,
  version: 4 | 6,
  own: ReadonlySet<string>,
): string | undefined {
  if (versionOf(address) !== version || scope !== 'global') return undefined;
  const { bytes: ours } = parseIpAddress(address);
  const hostBits = ours.length * 8 - prefixLength;
  if (hostBits === 0) return undefined;
  for (const flipped of hostBits === 1 ? [1] : [1, 2, 3]) {
    const bytes = Uint8Array.from(ours);
    const last = bytes.length - 1;
    bytes[last] = (bytes[last] ?? 0) ^ flipped;
    const neighbor = formatIpAddress(ipAddress(bytes));
    if ((hostBits === 1 || isHost(bytes, hostBits)) && !own.has(neighbor)) return neighbor;
  }
  return undefined;
}

/** Neither the first address of its subnet nor the last: the network, or all routers of the subnet, and broadcast. */
function isHost(bytes: Uint8Array, hostBits: number): boolean {
  const bits = [...bytes]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
    .slice(-hostBits);
  return bits.includes('1') && bits.includes('0');
}

/** One for each rule that asks for a source, by the interface that the way back to it leaves by. */
export function clientsByRules(version: 4 | 6, rules: readonly Rule[], socket: Socket): readonly Client[] {
  return rules.flatMap(({ source: prefix }) => {
    if (prefix === undefined) return [];
    const source = firstOf(prefix, version);
    try {
      const { interfaceIndex, type } = socket.routeTo(source);
      const link = socket.links().find(({ index }) => index === interfaceIndex);
      return link === undefined || link.isLoopback || type !== 'unicast'
        ? []
        : [{ source, link, isOfUplink: false, isByRule: true }];
    } catch (error) {
      if (error instanceof NetlinkError && error.isAnswer) return [];
      throw error;
    }
  });
}

function firstOf(prefix: string, version: 4 | 6): string {
  const [address = '', length] = prefix.split('/');
  const bytes = Uint8Array.from(parseIpAddress(address).bytes);
  if (Number(length) < (version === 4 ? 32 : 128)) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 1;
  return formatIpAddress(ipAddress(bytes));
}
