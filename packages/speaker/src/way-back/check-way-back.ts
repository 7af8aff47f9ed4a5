import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import type { Firewall } from '@bgp-lb/linux';
import type { StuckAnswers } from './stuck-answers.ts';

/** An interface, and what decides over answers to clients. */
interface WayLink {
  readonly name: string;
  readonly mtu: number;
  /** Load balancers send clients' packets by it. */
  readonly isTowardsRouters: boolean;
  /** rp_filter as it takes effect: the greater one of the interface's and that of `all`; 0 with IPv6, which has none. */
  readonly rpFilter: number;
}

/** A route that answers to clients may take. */
interface WayRoute {
  /** `0.0.0.0/0` */
  readonly destination: string;
  readonly interfaceName: string;
}

/** What a master's answers to clients depend on, with one version of IP. */
export interface WayBack {
  readonly version: 4 | 6;
  readonly links: readonly WayLink[];
  /** Of the main table. */
  readonly routes: readonly WayRoute[];
  /**
   * Where an answer of a VIP goes that is for a client behind a gateway, as the kernel says: by an interface, or nowhere, in words;
   * undefined where no VIP is bound, so that there is none.
   */
  readonly answer: { readonly interfaceName: string; readonly table: number } | string | undefined;
  /** A VIP that this host's own connections to other hosts would have as source, as the kernel says; undefined where it takes another. */
  readonly ownSource: string | undefined;
  /** Rules that take packets with a VIP as source to another table, in words. */
  readonly sourceRules: readonly string[];
  /** What rp_filter has dropped between two readings; undefined before the second, and with IPv6. */
  readonly dropped: { readonly packets: number; readonly ms: number } | undefined;
  /** Chains that let no answer out, and those of which that depends on what only the packet tells. */
  readonly firewall: { readonly drops: readonly string[]; readonly mayDrop: readonly string[] };
}

const CHECK = 'way back';
const DEFAULT = { 4: '0.0.0.0/0', 6: '::/0' } as const;
const STRICT = 1;
/** Destinations that are named. */
const NAMED = 3;

/**
 * The way of answers from this master to clients, which a health check does not take: it comes from the load balancer's address on
 * the link, and is answered there. Pure.
 * @param ways one for each version of IP that VIPs are of
 * @param stuck undefined where that is not known
 * @param unknown what could not be read
 */
export function checkWayBack(
  ways: readonly WayBack[],
  stuck?: StuckAnswers,
  unknown: readonly Finding[] = [],
): readonly Finding[] {
  const findings = [...ways.flatMap(findingsOf), ...largeAnswers(stuck), ...unknown];
  return findings.length > 0
    ? findings
    : [good(CHECK, 'this host', 'answers to clients leave as they came, or may')];
}

/** What cannot be read is not known to be well. */
export function unknownWayBack(place: string, error: unknown): Finding {
  const text = error instanceof Error ? error.message : String(error);
  return warning(CHECK, place, `cannot be read: ${text}`, 'what is in the way of answers is not known');
}

/** A table of the firewall whose rules cannot be judged. */
export function unreadTable({ table, problem }: Firewall['unread'][number]): Finding {
  const fix = 'look at its rules yourself: nft list table, iptables-legacy -S';
  return warning('firewall', table, `its rules cannot be read, and may drop packets: ${problem}`, fix);
}

function findingsOf(way: WayBack): readonly Finding[] {
  const towards = way.links.filter(({ isTowardsRouters }) => isTowardsRouters);
  return [
    ...towards.flatMap((link) => reversePath(link, way.routes)),
    ...route(way),
    ...towards.flatMap((link) => smaller(link, way)),
    ...way.sourceRules.map((rule) =>
      warning(
        CHECK,
        'ip rule',
        `answers of a VIP go by another table: ${rule}`,
        'that table needs a route to clients',
      ),
    ),
    ...filtered(way),
    ...drops(way),
    ...source(way),
  ];
}

/** So many, or it may be that one client has gone. */
const LEAST_STUCK = 3;

/** Handshakes are small: clients are established, and wait for what does not fit a link on the way. */
function largeAnswers(stuck: StuckAnswers | undefined): readonly Finding[] {
  if (stuck === undefined || stuck.connections < LEAST_STUCK) return [];
  const value = `large answers on ${stuck.connections} of ${stuck.of} connections, to ${stuck.clients} clients, are sent again and again: they do not reach them`;
  const fix =
    'the MTU of a link on the way to them is smaller, and what says so (ICMP, packet too big) is dropped: ping -M do -s 1472 CLIENT; or these clients have gone';
  return [warning(CHECK, 'TCP', value, fix)];
}

function filtered({ version, firewall }: WayBack): readonly Finding[] {
  const fix = 'its rules have to accept answers of the VIP to clients';
  return [
    ...firewall.drops.map((chain) =>
      fault(CHECK, chain, `drops answers to clients (IPv${version}): no rule accepts them`, fix),
    ),
    ...firewall.mayDrop.map((chain) =>
      warning(
        CHECK,
        chain,
        `may drop answers to clients (IPv${version}): whether a rule accepts them only packets tell`,
        fix,
      ),
    ),
  ];
}

function drops({ dropped }: WayBack): readonly Finding[] {
  if (dropped === undefined || dropped.packets === 0) return [];
  const value = `${dropped.packets} packets were dropped by rp_filter within ${Math.max(1, Math.round(dropped.ms / 1000))} s`;
  const fix =
    'if clients time out meanwhile, set rp_filter=2 on the uplinks (nstat -az TcpExtIPReversePathFilter)';
  return [warning(CHECK, 'IPReversePathFilter', value, fix)];
}

/** Strict filtering drops what comes by another interface than the one that the way back leaves by (RFC 3704 section 2.2). */
function reversePath({ name, rpFilter }: WayLink, routes: readonly WayRoute[]): readonly Finding[] {
  if (rpFilter !== STRICT) return [];
  const elsewhere = routes.filter(({ interfaceName }) => interfaceName !== name);
  const fix = `sysctl -w net.ipv4.conf.${name}.rp_filter=2, and net.ipv4.conf.all.rp_filter not 1`;
  const byDefault = elsewhere.find(({ destination }) => destination === DEFAULT[4]);
  if (byDefault !== undefined) {
    const way = `the way back to clients is by ${byDefault.interfaceName} (default route)`;
    return [fault(CHECK, name, `rp_filter is strict here, and ${way}: their packets are dropped`, fix)];
  }
  if (elsewhere.length === 0) return [];
  const named = elsewhere.slice(0, NAMED).map((one) => `${one.destination} (${one.interfaceName})`);
  const more = elsewhere.length > NAMED ? ` and ${elsewhere.length - NAMED} more` : '';
  return [
    warning(CHECK, name, `rp_filter is strict here: clients of ${named.join(', ')}${more} are dropped`, fix),
  ];
}

/** The kernel prefers a global address for a global destination to one of the link, a deprecated one too (RFC 6724 section 5, rules 2 and 3). */
function source({ version, ownSource }: WayBack): readonly Finding[] {
  if (ownSource === undefined) return [];
  const value = `connections of this host to others have ${ownSource} as source, and answers to them reach any master`;
  const fix = `give this host another global IPv${version} address: etcd, kubelet and BGP need one`;
  return [fault('vip as source', 'this host', value, fix)];
}

function route({ version, routes, answer }: WayBack): readonly Finding[] {
  const fix = 'ip route add default via GATEWAY, or a route to each network of clients';
  if (!routes.some(({ destination }) => destination === DEFAULT[version])) {
    const value = `there is no default route (IPv${version}): clients of other subnets get no answer`;
    return [warning(CHECK, 'main table', value, fix)];
  }
  return typeof answer === 'string'
    ? [
        fault(
          CHECK,
          'ip rule',
          `answers of a VIP to clients behind a gateway have no route (IPv${version}): ${answer}`,
          'a rule in front of the table main leads them elsewhere: ip rule, ip route get CLIENT from VIP',
        ),
      ]
    : [];
}

/** Requests come by the larger link, and what answers them does not fit the smaller one. */
function smaller({ name, mtu }: WayLink, { version, links, routes, answer }: WayBack): readonly Finding[] {
  const back =
    typeof answer === 'object'
      ? answer.interfaceName
      : routes.find(({ destination }) => destination === DEFAULT[version])?.interfaceName;
  const link = links.find((one) => one.name === back);
  if (link === undefined || link.mtu >= mtu) return [];
  const value = `MTU ${link.mtu} towards clients, ${mtu} on ${name}, by which their packets come`;
  return [warning(CHECK, link.name, value, 'give both the same MTU, or clients a smaller one')];
}
