import {
  isUnanswered,
  NetlinkError,
  type Route,
  type RouteSocket,
  RouteTable,
  type Rule,
} from '@bgp-lb/linux';
import { parseIpAddress } from '@bgp-lb/protocol';
import type { KernelVip } from './kernel-data-plane-options.ts';
import { type Client, clientsByRules, clientsByUplinks, type Uplinks } from './possible-clients.ts';

export interface ClientPathQuestion {
  readonly socket: Pick<RouteSocket, 'routeOf' | 'routeTo' | 'links' | 'addresses' | 'rules'>;
  /** Those that are forwarded to a member. */
  readonly vips: readonly KernelVip[];
  /** The route protocol number of what is ours. */
  readonly protocol: number;
  readonly uplinks: Uplinks;
}

/** Clients whose packets to a VIP do not take our route. */
export interface ClientPathFault {
  /** `10.100.0.1/32` */
  readonly vip: string;
  /** In words. */
  readonly text: string;
  /** True where no client gets on by any interface that clients are known to come by. */
  readonly isForAll: boolean;
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
  const uplinks = clientsByUplinks(version, socket, question.uplinks);
  const clients = [...uplinks.clients, ...clientsByRules(version, rules, socket)];
  const astray = clients.flatMap((client) => {
    const what = whereTo(vip, client, question);
    return what === undefined ? [] : [{ client, what }];
  });
  // Read again: one that was added a moment ago is to be named.
  const now = astray.length === 0 ? [] : foreignRules(version, question);
  const faults = astray.map(({ client, what }) => {
    const rule = now.find((one) => one.priority < MAIN_PRIORITY && matches(one, vip, client));
    const by = rule === undefined ? '' : `, by ip rule ${describe(rule)}`;
    const text = `packets to ${vip.address} from clients like ${client.source} (${client.link.name}) ${what}${by}`;
    return { client, text };
  });
  const served = uplinks.clients.filter(
    (one) => one.isOfUplink && !faults.some(({ client }) => client === one),
  );
  const isForAll = uplinks.areAll && served.length === 0;
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
