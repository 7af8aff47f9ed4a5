import { type Finding, fault, good, type NftChain, warning } from '@bgp-lb/daemon';

/** An interface, and what decides over answers to clients. */
interface WayLink {
  readonly name: string;
  readonly mtu: number;
  /** Load balancers send clients' packets by it. */
  readonly isTowardsRouters: boolean;
  /** rp_filter as it takes effect: the greater one of the interface's and that of `all`. */
  readonly rpFilter: number;
}

/** A route that answers to clients may take. */
interface WayRoute {
  /** `0.0.0.0/0` */
  readonly destination: string;
  readonly interfaceName: string;
}

/** What a master's answers to clients depend on, IPv4. */
export interface WayBack {
  readonly links: readonly WayLink[];
  /** Of the main table. */
  readonly routes: readonly WayRoute[];
  /** Rules that take packets with a VIP as source to another table, in words. */
  readonly sourceRules: readonly string[];
  /** Packets that rp_filter has dropped since boot. */
  readonly dropped: number;
  /** Output chains that drop by default. */
  readonly outputChains: readonly NftChain[];
}

const CHECK = 'way back';
const DEFAULT = '0.0.0.0/0';
const STRICT = 1;
/** Destinations that are named. */
const NAMED = 3;

/**
 * The way of answers from this master to clients, which a health check does not take: it comes from the load balancer's address on
 * the link, and is answered there. Pure.
 */
export function checkWayBack(way: WayBack): readonly Finding[] {
  const towards = way.links.filter(({ isTowardsRouters }) => isTowardsRouters);
  const findings = [
    ...towards.flatMap((link) => reversePath(link, way.routes)),
    ...defaultRoute(way),
    ...towards.flatMap((link) => smaller(link, way)),
    ...way.sourceRules.map((rule) =>
      warning(
        CHECK,
        'ip rule',
        `answers of a VIP go by another table: ${rule}`,
        'that table needs a route to clients',
      ),
    ),
    ...way.outputChains.map(({ family, table, name }) =>
      warning(
        CHECK,
        `${family} ${table} ${name}`,
        'drops what no rule accepts',
        'its rules have to accept answers of the VIP to clients',
      ),
    ),
    ...(way.dropped === 0
      ? []
      : [
          warning(
            CHECK,
            'IPReversePathFilter',
            `${way.dropped} packets were dropped by rp_filter since boot`,
            'nstat -az TcpExtIPReversePathFilter: if it grows while clients time out, set rp_filter=2 on the uplinks',
          ),
        ]),
  ];
  return findings.length > 0
    ? findings
    : [good(CHECK, 'this host', 'answers to clients leave as they came, or may')];
}

/** Strict filtering drops what comes by another interface than the one that the way back leaves by (RFC 3704 section 2.2). */
function reversePath({ name, rpFilter }: WayLink, routes: readonly WayRoute[]): readonly Finding[] {
  if (rpFilter !== STRICT) return [];
  const elsewhere = routes.filter(({ interfaceName }) => interfaceName !== name);
  const fix = `sysctl -w net.ipv4.conf.${name}.rp_filter=2, and net.ipv4.conf.all.rp_filter not 1`;
  const byDefault = elsewhere.find(({ destination }) => destination === DEFAULT);
  if (byDefault !== undefined) {
    const way = `the way back to clients is by ${byDefault.interfaceName} (default route)`;
    return [fault(CHECK, name, `rp_filter is strict here, and ${way}: their packets are dropped`, fix)];
  }
  if (elsewhere.length === 0) return [];
  const named = elsewhere.slice(0, NAMED).map((route) => `${route.destination} (${route.interfaceName})`);
  const more = elsewhere.length > NAMED ? ` and ${elsewhere.length - NAMED} more` : '';
  return [
    warning(CHECK, name, `rp_filter is strict here: clients of ${named.join(', ')}${more} are dropped`, fix),
  ];
}

function defaultRoute({ routes }: WayBack): readonly Finding[] {
  if (routes.some(({ destination }) => destination === DEFAULT)) return [];
  const value = 'there is no default route: clients of other subnets get no answer';
  return [
    warning(
      CHECK,
      'main table',
      value,
      'ip route add default via GATEWAY, or a route to each network of clients',
    ),
  ];
}

/** Requests come by the larger link, and what answers them does not fit the smaller one. */
function smaller({ name, mtu }: WayLink, { links, routes }: WayBack): readonly Finding[] {
  const back = routes.find(({ destination }) => destination === DEFAULT)?.interfaceName;
  const link = links.find((one) => one.name === back);
  if (link === undefined || link.mtu >= mtu) return [];
  const value = `MTU ${link.mtu} towards clients, ${mtu} on ${name}, by which their packets come`;
  return [warning(CHECK, link.name, value, 'give both the same MTU, or clients a smaller one')];
}
