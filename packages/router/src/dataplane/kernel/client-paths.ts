import {
  type FirewallChain,
  isUnanswered,
  type Marks,
  NetlinkError,
  packetFate,
  type Route,
  type RouteSocket,
  RouteTable,
  type Rule,
} from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { KernelVip } from './kernel-data-plane-options.ts';
import { type Client, clientsByRules, clientsByUplinks, type Uplinks } from './possible-clients.ts';
import { describeRule, ruleFits } from './rule-match.ts';

export interface ClientPathQuestion {
  readonly socket: Pick<RouteSocket, 'routeOf' | 'routeTo' | 'links' | 'addresses' | 'rules'>;
  /** Those that are forwarded to a member. */
  readonly vips: readonly KernelVip[];
  /** The route protocol number of what is ours. */
  readonly protocol: number;
  readonly uplinks: Uplinks;
  /** Of others, as far as they could be read. */
  readonly firewall: readonly FirewallChain[];
  /** Names of the interfaces that packets to a VIP leave by. */
  readonly ways: (vip: KernelVip) => readonly string[];
}

/** Clients whose packets to a VIP do not reach a member. */
export interface ClientPathProblem {
  /** `10.100.0.1/32` */
  readonly vip: string;
  /** In words. */
  readonly text: string;
  /**
   * `all`: no client gets on by any interface that clients are known to come by; `some`: those of one such interface do not; `unknown`:
   * whether there are such clients, or such packets of theirs, is not known.
   */
  readonly clients: 'all' | 'some' | 'unknown';
}

/**
 * Which clients' packets would not reach a member, as the kernel itself says: it is asked for the route of a packet with their source
 * that comes by their interface and has the mark that rules of the firewall give it, as rules, VRFs and rp_filter have it; and the chains
 * that it passes are followed. What this host sends itself takes another way, and health checks with it.
 */
export function clientPathProblems(question: ClientPathQuestion): readonly ClientPathProblem[] {
  try {
    return question.vips.flatMap((vip) => problemsOf(vip, question));
  } catch (error) {
    // Nothing follows from an answer that was lost: it is asked again.
    if (isUnanswered(error)) return [];
    throw error;
  }
}

const versionOf = ({ address }: KernelVip): 4 | 6 => ipVersion(address);

function problemsOf(vip: KernelVip, question: ClientPathQuestion): readonly ClientPathProblem[] {
  const version = versionOf(vip);
  const { socket } = question;
  const rules = foreignRules(version, question);
  const uplinks = clientsByUplinks(version, socket, question.uplinks);
  const clients = [...uplinks.clients, ...clientsByRules(version, rules, socket)];
  const found = clients.flatMap((client) => {
    const ends = endsOf(vip, client, rules, question);
    return ends === undefined ? [] : [{ client, ...ends }];
  });
  const lost = found.filter(({ isSure }) => isSure).map(({ client }) => client);
  const served = uplinks.clients.filter((one) => one.isOfUplink && !lost.includes(one));
  const isForAll = uplinks.areAll && served.length === 0;
  const isSeen = ({ isByRule, link }: Client): boolean =>
    !isByRule && question.uplinks.arrivals(version).has(link.name);
  return found.map(({ client, what, isSure }) => ({
    vip: vip.prefix,
    text: `packets to ${vip.address} from clients like ${client.source} (${client.link.name}) ${what}`,
    clients:
      isSure && isForAll && client.isOfUplink
        ? 'all'
        : isSure && (client.isOfUplink || isSeen(client))
          ? 'some'
          : 'unknown',
  }));
}

function foreignRules(version: 4 | 6, { socket, protocol }: ClientPathQuestion): readonly Rule[] {
  return socket
    .rules(version)
    .filter((rule) => rule.protocol !== protocol && rule.table !== RouteTable.Local);
}

interface End {
  /** What becomes of them, in words. */
  readonly what: string;
  /** False where only some packets may end so. */
  readonly isSure: boolean;
}

/** Where a client's packets end that do not reach a member; undefined where none does. */
function endsOf(
  vip: KernelVip,
  client: Client,
  rules: readonly Rule[],
  question: ClientPathQuestion,
): End | undefined {
  const packet = {
    version: versionOf(vip),
    input: client.link.name,
    destination: vip.address,
    destinationPort: vip.port,
  } as const;
  const before = packetFate(question.firewall, 'prerouting', packet);
  if (before.isDropped === 'yes') return droppedBy(before.by);
  const marks = marksToTry(before.marks, rules);
  const astray = marks.flatMap((mark) => {
    const what = whereTo(vip, client, mark, question);
    return what === undefined ? [] : [{ mark, what }];
  });
  const [first] = astray;
  if (first !== undefined) {
    // Read again: one that was added a moment ago is to be named.
    const now = foreignRules(packet.version, question);
    const rule = now.find((one) => ruleFits(one, vip, client, first.mark));
    const by = rule === undefined ? '' : `, by ip rule ${describeRule(rule)}`;
    const isSure = astray.length === marks.length;
    const marked = first.mark === 0 ? '' : `with firewall mark 0x${first.mark.toString(16)} `;
    const known = isSure ? '' : '; which of them have it is not known';
    return { what: `${marked}${first.what}${by}${known}`, isSure };
  }
  return behindRouting(packet, before.marks, question.ways(vip), question.firewall);
}

/** Chains that a packet passes when its route is known. */
function behindRouting(
  packet: Parameters<typeof packetFate>[2],
  marks: Marks,
  ways: readonly string[],
  firewall: readonly FirewallChain[],
): End | undefined {
  const dropping = ways.map((output) => {
    const forward = packetFate(firewall, 'forward', { ...packet, output }, marks);
    if (forward.isDropped === 'yes') return forward.by;
    const { input: _, ...leaving } = packet;
    const last = packetFate(firewall, 'postrouting', { ...leaving, output }, forward.marks);
    return last.isDropped === 'yes' ? last.by : [];
  });
  const by = [...new Set(dropping.flat())];
  if (by.length === 0) return undefined;
  const dropped = ways.filter((_, i) => (dropping[i] ?? []).length > 0);
  const isSure = dropped.length === ways.length;
  const towards = isSure ? '' : ` towards ${dropped.join(', ')}`;
  return { what: `${droppedBy(by).what}${towards}`, isSure: true };
}

function droppedBy(chains: readonly string[]): End {
  return { what: `are dropped by the firewall, chain ${chains.join(', ')}`, isSure: true };
}

/** Where any may be set: none, and those that rules ask for. */
function marksToTry(marks: Marks, rules: readonly Rule[]): readonly number[] {
  if (marks !== 'any') return [...marks];
  return [...new Set([0, ...rules.flatMap(({ mark }) => mark ?? [])])];
}

/** What becomes of a client's packet in words; undefined where it takes our route. */
function whereTo(
  vip: KernelVip,
  { source, link }: Client,
  mark: number,
  question: ClientPathQuestion,
): string | undefined {
  const { address: destination, port: destinationPort } = vip;
  try {
    const route = question.socket.routeOf({
      source,
      destination,
      destinationPort,
      interfaceIndex: link.index,
      mark,
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
