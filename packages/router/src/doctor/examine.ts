import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import {
  ControlClientError,
  chainsThatDrop,
  checkClock,
  checkDuplicates,
  checkOwners,
  controlRequest,
  type Finding,
  fault,
  good,
  warning,
} from '@bgp-lb/daemon';
import {
  addressOwners,
  arpLinks,
  detectionOf,
  isClockSynchronized,
  type Link,
  Nftables,
  NftablesError,
  RouteSocket,
  readSysctl,
  tcpMd5Counters,
  writeSysctl,
} from '@bgp-lb/linux';
import type { NeighborStatus } from '../api/neighbor-status.ts';
import type { RouterStatus } from '../api/router-status.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { NextHopResolver } from '../dataplane/kernel/next-hop-resolver.ts';
import { wantedSysctls } from '../dataplane/kernel/sysctls.ts';
import { checkForwarding, checkMtu, checkSysctls } from './check-host.ts';
import { checkNeighbors, checkSignatures, checkStatus } from './check-status.ts';

/** Milliseconds that an owner of a VIP has to answer. */
const ANSWER_TIME = 600;
/** Tables of iptables-legacy that are loaded, one a line. */
const LEGACY_TABLES = ['/proc/net/ip_tables_names', '/proc/net/ip6_tables_names'];

/**
 * Looks at everything that the router depends on.
 * @param fixes whether settings of the host that are not as wanted are made
 * @throws NetlinkError, SysctlError where the kernel cannot be asked at all
 */
export async function examine(config: RouterConfig, fixes: boolean): Promise<readonly Finding[]> {
  const routes = new RouteSocket();
  try {
    const [status, neighbors] = await running(config);
    const nextHops = new Set([
      ...(status?.vips.flatMap(({ members }) => members.map(({ nextHop }) => nextHop)) ?? []),
      ...config.neighbors.flatMap(({ role, address }) =>
        role === 'master' && address !== undefined ? [address] : [],
      ),
    ]);
    const hasPasswords = config.neighbors.some(({ passwordFile }) => passwordFile !== undefined);
    return [
      ...(await daemonFindings(config, status)),
      ...(neighbors === undefined ? [] : checkNeighbors(neighbors)),
      ...checkSignatures(hasPasswords ? tcpMd5Counters() : null),
      ...kernelFindings(config, routes, [...nextHops], fixes),
      ...(await firewall(config)),
      checkClock(isClockSynchronized(), new Date()),
    ];
  } finally {
    routes.close();
  }
}

async function daemonFindings(
  config: RouterConfig,
  status: RouterStatus | undefined,
): Promise<readonly Finding[]> {
  if (status !== undefined) {
    return [good('router', config.api.socket, `runs, version ${status.version}`), ...checkStatus(status)];
  }
  const start = 'start it: systemctl start bgp-lb-router, and see its log';
  const { addresses, port } = config.listen;
  return [
    warning('router', config.api.socket, 'does not run', start),
    ...(await Promise.all(addresses.map((address) => checkPort(address, port)))),
  ];
}

/** Whether the BGP port is free for a router that does not run. */
function checkPort(address: string, port: number): Promise<Finding> {
  const place = `${address} port ${port}`;
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const fix =
        error.code === 'EADDRINUSE'
          ? `another BGP daemon has it: ss -ltnp sport = :${port}, and stop it, or set listen.port`
          : 'run doctor as root on the load balancer; the address has to be one of this host';
      resolve(fault('bgp port', place, error.message, fix));
    });
    server.listen({ host: address, port }, () =>
      server.close(() => resolve(good('bgp port', place, 'is free'))),
    );
  });
}

function kernelFindings(
  { vips, dataplane }: RouterConfig,
  routes: RouteSocket,
  nextHops: readonly string[],
  fixes: boolean,
): readonly Finding[] {
  const links = routes.links();
  const resolver = new NextHopResolver(routes);
  const memberLinks = new Set<string>();
  const unreachable: Finding[] = [];
  for (const nextHop of nextHops) {
    const answer = resolver.resolve(nextHop);
    if ('problem' in answer) {
      const fix = 'members have to be on a link of this host: an address, a route or a cable is missing';
      unreachable.push(fault('next hop', nextHop, answer.problem, fix));
    } else memberLinks.add(answer.interfaceName);
  }
  const up = links.filter(({ isUp, isLoopback }) => isUp && !isLoopback);
  const versions = ([4, 6] as const).filter((version) =>
    vips.some(({ address }) => address.includes(':') === (version === 6)),
  );
  const onLink = dataplane.proxyInterfaces.filter((name) => links.some((link) => link.name === name));
  const settings = wantedSysctls({
    versions,
    memberInterfaces: [...new Set([...memberLinks, ...onLink])],
    interfaces: up.map(({ name }) => name),
  });
  const inUse = links.filter(({ name }) => memberLinks.has(name) || onLink.includes(name));
  return [
    ...unreachable,
    ...checkDuplicates(detectionOf(routes.addresses(), inUse)),
    ...checkSysctls(settings, { read: readSysctl, write: writeSysctl }, fixes),
    ...checkMtu(up, [...memberLinks]),
    ...owners(vips, arpLinks(up, routes.addresses()), routes),
  ];
}

/** A master that answers ARP for the VIP itself is named by the address that it has on that link. */
function owners(vips: RouterConfig['vips'], links: readonly Link[], routes: RouteSocket): readonly Finding[] {
  return checkOwners({
    addresses: vips.map(({ address }) => address),
    links,
    ask: (link, address) => addressOwners(link, address, ANSWER_TIME),
    nameOf: (owner) => {
      const isVip = (address: string): boolean => vips.some((vip) => vip.address === address);
      const known = routes
        .neighbours()
        .filter(({ linkLayerAddress, address }) => linkLayerAddress === owner && !isVip(address));
      return known.length === 0 ? '' : ` (${known.map(({ address }) => address).join(', ')})`;
    },
    fix: 'if that is a master: arp_ignore=1 there, which its speaker sets; kube-vip or keepalived: take the address off that host. Another bgp-lb router that stands in is as it should be',
  });
}

async function firewall({ vips }: RouterConfig): Promise<readonly Finding[]> {
  const hasLegacy = LEGACY_TABLES.some(
    (file) => existsSync(file) && readFileSync(file, 'utf8').split('\n').includes('filter'),
  );
  try {
    return checkForwarding(chainsThatDrop(await new Nftables().chains(), 'forward'), vips, hasLegacy);
  } catch (error) {
    if (!(error instanceof NftablesError)) throw error;
    return [fault('firewall', 'nft', error.message, 'the router cannot work without nft')];
  }
}

/** What a router that runs here says; undefined when none does. */
async function running({
  api,
}: RouterConfig): Promise<readonly [RouterStatus | undefined, readonly NeighborStatus[] | undefined]> {
  try {
    // The daemon is of the same release as this command.
    return (await Promise.all([
      controlRequest(api.socket, 'GET', '/api/v1/status'),
      controlRequest(api.socket, 'GET', '/api/v1/neighbors'),
    ])) as [RouterStatus, NeighborStatus[]];
  } catch (error) {
    if (error instanceof ControlClientError) return [undefined, undefined];
    throw error;
  }
}
