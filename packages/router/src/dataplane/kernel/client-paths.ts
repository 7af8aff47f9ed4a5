import {
  type InterfaceAddress,
  isUnanswered,
  type Link,
  NetlinkError,
  type Route,
  type RouteSocket,
  RouteTable,
  type Rule,
} from '@bgp-lb/linux';
import { formatIpAddress, ipAddress, parseIpAddress } from '@bgp-lb/protocol';
import type { KernelVip } from './kernel-data-plane-options.ts';

export interface ClientPathQuestion {
  readonly socket: Pick<RouteSocket, 'routeOf' | 'routeTo' | 'links' | 'addresses' | 'rules'>;
  /** Those that are forwarded to a member. */
  readonly vips: readonly KernelVip[];
  /** The route protocol number of what is ours. */
  readonly protocol: number;
  /** Interfaces towards members, by which clients come only where there is no other. */
  readonly memberInterfaces: ReadonlySet<string>;
}

/** Clients whose packets to a VIP do not take our route. */
export interface ClientPathFault {
  /** `10.100.0.1/32` */
  readonly vip: string;
  /** In words. */
  readonly text: string;
  /** True where no client by any uplink gets on. */
  readonly isForAll: boolean;
}

/** A client that may be. */
interface Client {
  readonly source: string;
  readonly link: Pick<Link, 'index' | 'name'>;
  /** It stands for all that come by its uplink, and not for those of a rule alone. */
  readonly isOfUplink: boolean;
}

/**
 * Which clients' packets would not take our route, as the kernel itself says: it is asked for the route of a packet with their source
 * that comes by their interface, as rules, VRFs and rp_filter have it. What this host sends itself takes another way, and health checks
 * with it. Rules by firewall mark are left out: only what sets the mark knows which packets have it.
 */
export function clientPathFaults(question: ClientPathQuestion): readonly ClientPathFault[] {
  try {
    return question.vips.flatMap((vip) => faultsOf(vip, question));
  } catch (error) {
    // Nothing follows from an answer that was lost: it is asked again.
    if (isUnanswered(error)) return [];
    throw error;
  }
}

function faultsOf(vip: KernelVip, question: ClientPathQuestion): readonly ClientPathFault[] {
  const version = vip.address.includes(':') ? 6 : 4;
  const { socket } = question;
  const rules = foreignRules(version, question);
  const clients = [...ofUplinks(version, question), ...ofRules(version, rules, socket)];
  const astray = clients.flatMap((client) => {
    const what = whereTo(vip, client, question);
    return what === undefined ? [] : [{ client, what }];
  });
  // Read anew: one that was added a moment ago is to be named.
  const now = astray.length === 0 ? [] : foreignRules(version, question);
  const faults = astray.map(({ client, what }) => {
    const rule = now.find((one) => one.priority < MAIN_PRIORITY && matches(one, vip, client));
    const by = rule === undefined ? '' : `, by ip rule ${describe(rule)}`;
    const text = `packets to ${vip.address} from clients like ${client.source} (${client.link.name}) ${what}${by}`;
    return { client, text };
  });
  const uplinks = clients.filter(({ isOfUplink }) => isOfUplink);
  const failed = faults.filter(({ client }) => client.isOfUplink);
  const isForAll = uplinks.length > 0 && failed.length === uplinks.length;
  return faults.map(({ client, text }) => ({
    vip: vip.prefix,
    text,
    isForAll: isForAll && client.isOfUplink,
  }));
}

/** Rules that a packet without a mark may meet. */
function foreignRules(version: 4 | 6, { socket, protocol }: ClientPathQuestion): readonly Rule[] {
  return socket
    .rules(version)
    .filter(
      (rule) => rule.protocol !== protocol && rule.mark === undefined && rule.table !== RouteTable.Local,
    );
}

/** What becomes of a client's packet in words; undefined where it takes our route. */
function whereTo(vip: KernelVip, { source, link }: Client, question: ClientPathQuestion): string | undefined {
  const { address: destination, port: destinationPort } = vip;
  try {
    const route = question.socket.routeOf({
      source,
      destination,
      destinationPort,
      interfaceIndex: link.index,
    });
    if (route === undefined) return 'take a route that is not ours';
    const isOurs = route.protocol === question.protocol && route.destination === vip.prefix;
    return isOurs ? undefined : `take ${named(route)}, which is not ours`;
  } catch (error) {
    if (!(error instanceof NetlinkError && error.isAnswer)) throw error;
    return error.errno === 'EXDEV'
      ? `are dropped by rp_filter of ${link.name}`
      : `have no route (${error.errno})`;
  }
}

function named({ type, destination, table, metric = 0, protocol }: Route): string {
  const kind = type === 'unicast' ? '' : `${type} `;
  return `the route ${kind}${destination} of table ${table} (metric ${metric}, protocol ${protocol})`;
}

/** One for each interface with an address: a neighbour on its subnet. */
function ofUplinks(version: 4 | 6, { socket, memberInterfaces }: ClientPathQuestion): readonly Client[] {
  const links = socket
    .links()
    .filter(({ isUp, hasCarrier, isLoopback }) => isUp && hasCarrier && !isLoopback);
  const addresses = socket.addresses();
  const own = new Set(addresses.map(({ address }) => address));
  const clients = links.flatMap((link) => {
    const [first] = addresses.filter((one) => one.index === link.index && isOfUse(one, version));
    const source = first === undefined ? undefined : neighbourOf(first, own);
    return source === undefined ? [] : [{ source, link, isOfUplink: true }];
  });
  const others = clients.filter(({ link }) => !memberInterfaces.has(link.name));
  return others.length > 0 ? others : clients;
}

function isOfUse({ address, scope, prefixLength }: InterfaceAddress, version: 4 | 6): boolean {
  const isOfVersion = address.includes(':') === (version === 6);
  return isOfVersion && scope === 'global' && prefixLength <= (version === 4 ? 30 : 126);
}

/** Another address of the subnet, which is none of this host. */
function neighbourOf({ address }: InterfaceAddress, own: ReadonlySet<string>): string | undefined {
  for (const flipped of [1, 2, 3]) {
    const bytes = Uint8Array.from(parseIpAddress(address).bytes);
    const last = bytes.length - 1;
    bytes[last] = (bytes[last] ?? 0) ^ flipped;
    const neighbour = formatIpAddress(ipAddress(bytes));
    const isHost = ![0, 255].includes(bytes[last] ?? 0) || bytes.length === 16;
    if (isHost && !own.has(neighbour)) return neighbour;
  }
  return undefined;
}

/** One for each rule that asks for a source, by the interface that the way back to it leaves by. */
function ofRules(
  version: 4 | 6,
  rules: readonly Rule[],
  socket: ClientPathQuestion['socket'],
): readonly Client[] {
  return rules.flatMap(({ source: prefix }) => {
    if (prefix === undefined) return [];
    const source = firstOf(prefix, version);
    try {
      const { interfaceIndex, type } = socket.routeTo(source);
      const link = socket.links().find(({ index }) => index === interfaceIndex);
      return link === undefined || link.isLoopback || type !== 'unicast'
        ? []
        : [{ source, link, isOfUplink: false }];
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

/** Of the kernel's own rule for the table main. */
const MAIN_PRIORITY = 32_766;
const TCP = 6;

function matches(rule: Rule, vip: KernelVip, { source, link }: Client): boolean {
  const {
    inputInterface,
    outputInterface,
    ipProtocol = TCP,
    destinationPorts: [from, to] = [0, 0xffff],
  } = rule;
  return (
    (inputInterface === undefined || inputInterface === link.name) &&
    outputInterface === undefined &&
    rule.isForVrf !== true &&
    ipProtocol === TCP &&
    from <= vip.port &&
    vip.port <= to &&
    (rule.source === undefined || contains(rule.source, source)) &&
    (rule.destination === undefined || contains(rule.destination, vip.address))
  );
}

function contains(prefix: string, address: string): boolean {
  const [network = '', length = '0'] = prefix.split('/');
  const [a, b] = [parseIpAddress(network).bytes, parseIpAddress(address).bytes];
  const bits = (bytes: Uint8Array): string =>
    [...bytes]
      .map((byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .slice(0, Number(length));
  return a.length === b.length && bits(a) === bits(b);
}

/** `100 iif eth1 lookup 77`, as ip(8) has it. */
function describe(rule: Rule): string {
  const { priority, source, destination, inputInterface, ipProtocol, destinationPorts, table, action } = rule;
  return [
    `${priority}`,
    ...(source === undefined ? [] : [`from ${source}`]),
    ...(destination === undefined ? [] : [`to ${destination}`]),
    ...(inputInterface === undefined ? [] : [`iif ${inputInterface}`]),
    ...(ipProtocol === undefined ? [] : [`ipproto ${ipProtocol}`]),
    ...(destinationPorts === undefined ? [] : [`dport ${destinationPorts.join('-')}`]),
    action === 'table' ? `lookup ${table}` : action,
  ].join(' ');
}
