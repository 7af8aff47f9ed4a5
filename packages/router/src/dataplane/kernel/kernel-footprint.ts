import { join } from 'node:path';
import { checkDuplicates, checkOwners, type Finding, fault } from '@bgp-lb/daemon';
import {
  addressOwners,
  arpLinks,
  detectionOf,
  Nftables,
  NftablesError,
  RouteSocket,
  readFirewall,
  readSysctl,
  writeSysctl,
} from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import { onLinkInterfaces } from '../../config/on-link-interfaces.ts';
import type { KernelDataplaneConfig, RouterConfig } from '../../config/router-config.ts';
import { stateFiles } from '../../config/state-files.ts';
import type { DataPlaneFootprint } from '../data-plane-footprint.ts';
import { checkForwarding, checkMtu, checkSysctls } from './check-host.ts';
import { uninstall } from './kernel-uninstall.ts';
import { NextHopResolver } from './next-hop-resolver.ts';
import { clientsByUplinks, type Uplinks } from './possible-clients.ts';
import { SysctlRecord } from './sysctl-record.ts';
import { wantedSysctls } from './sysctls.ts';

/** Milliseconds that an owner of a VIP has to answer. */
const ANSWER_TIME = 600;
/** Objects of one kind that a bug report has at most. */
const MOST_OBJECTS = 1000;

const sysctl = { read: readSysctl, write: writeSysctl };

/** Next-hop groups, routes, rules, the nft table, settings, and devices that answer for VIPs of a subnet. */
export function kernelFootprint(
  dataplane: KernelDataplaneConfig,
  config: Pick<RouterConfig, 'vips' | 'stateDir' | 'neighbors' | 'dataplane' | 'vrrp'>,
): DataPlaneFootprint {
  const { protocol, table } = dataplane;
  const { vips, stateDir, neighbors, vrrp } = config;
  const proxyInterfaces = onLinkInterfaces(config);
  const upstreams = neighbors.flatMap((one) => (one.role === 'upstream' ? [one.address] : []));
  return {
    kind: 'kernel',
    examine: async ({ nextHops, fixes }) => [
      ...withRoutes((routes) => [
        ...kernelFindings({ vips, proxyInterfaces, routes, nextHops, fixes }),
        // With VRRP another load balancer answers, and how many do is looked at with it.
        ...(vrrp === undefined ? owners(vips, routes) : []),
      ]),
      ...(await firewall(vips, nextHops, { upstreams, proxyInterfaces })),
    ],
    async remove(isDry) {
      const socket = new RouteSocket();
      const record = new SysctlRecord(join(stateDir, stateFiles.sysctls));
      try {
        return await uninstall({ socket, protocol, nft: new Nftables(), sysctl, record, isDry });
      } finally {
        socket.close();
      }
    },
    snapshot: async () => ({
      kernel: withRoutes((routes) => kernelObjects(routes, protocol, table)),
      nftChains: await chains(),
    }),
  };
}

function withRoutes<T>(run: (routes: RouteSocket) => T): T {
  const routes = new RouteSocket();
  try {
    return run(routes);
  } finally {
    routes.close();
  }
}

function kernelFindings({
  vips,
  proxyInterfaces,
  routes,
  nextHops,
  fixes,
}: {
  readonly vips: RouterConfig['vips'];
  readonly proxyInterfaces: readonly string[];
  readonly routes: RouteSocket;
  readonly nextHops: readonly string[];
  readonly fixes: boolean;
}): readonly Finding[] {
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
    vips.some(({ address }) => ipVersion(address) === version),
  );
  const onLink = proxyInterfaces.filter((name) => links.some((link) => link.name === name));
  const settings = wantedSysctls({
    versions,
    memberInterfaces: [...new Set([...memberLinks, ...onLink])],
    interfaces: up.map(({ name }) => name),
  });
  const inUse = links.filter(({ name }) => memberLinks.has(name) || onLink.includes(name));
  return [
    ...unreachable,
    ...checkDuplicates(detectionOf(routes.addresses(), inUse)),
    ...checkSysctls(settings, sysctl, fixes),
    ...checkMtu(up, [...memberLinks]),
  ];
}

/** A master that answers ARP for the VIP itself is named by the address that it has on that link. */
function owners(vips: RouterConfig['vips'], routes: RouteSocket): readonly Finding[] {
  const up = routes.links().filter(({ isUp, isLoopback }) => isUp && !isLoopback);
  return checkOwners({
    addresses: vips.map(({ address }) => address),
    links: arpLinks(up, routes.addresses()),
    ask: (link, address) => addressOwners(link, address, ANSWER_TIME),
    nameOf: (owner) => {
      const isVip = (address: string): boolean => vips.some((vip) => vip.address === address);
      const known = routes
        .neighbors()
        .filter(({ linkLayerAddress, address }) => linkLayerAddress === owner && !isVip(address));
      return known.length === 0 ? '' : ` (${known.map(({ address }) => address).join(', ')})`;
    },
    fix: 'if that is a master: arp_ignore=1 there, which its speaker sets; kube-vip or keepalived: take the address off that host. Another bgp-lb router that stands in is as it should be',
  });
}

async function firewall(
  vips: RouterConfig['vips'],
  nextHops: readonly string[],
  uplinks: Omit<Uplinks, 'arrivals'>,
): Promise<readonly Finding[]> {
  try {
    const found = await readFirewall();
    return withRoutes((routes) =>
      ([4, 6] as const).flatMap((version) => {
        const own = vips.filter(({ address }) => ipVersion(address) === version);
        if (own.length === 0) return [];
        const { clients } = clientsByUplinks(version, routes, { ...uplinks, arrivals: () => new Set() });
        return checkForwarding(found, own, {
          inputs: clients.flatMap(({ isOfUplink, link }) => (isOfUplink ? [link.name] : [])),
          outputs: [...new NextHopResolver(routes).interfacesTo(nextHops)],
        });
      }),
    );
  } catch (error) {
    if (!(error instanceof NftablesError)) throw error;
    return [fault('firewall', 'nft', error.message, 'the router cannot work without nft')];
  }
}

function kernelObjects(routes: RouteSocket, protocol: number, table: number): object {
  return {
    links: routes.links(),
    addresses: routes.addresses(),
    nexthops: routes.nexthops({ protocol }),
    routes: routes.routes({ table }).slice(0, MOST_OBJECTS),
    rules: [...routes.rules(4), ...routes.rules(6)],
    neighbors: routes.neighbors().slice(0, MOST_OBJECTS),
  };
}

async function chains(): Promise<unknown> {
  try {
    return await new Nftables().chains();
  } catch (error) {
    if (error instanceof NftablesError) return { error: error.message };
    throw error;
  }
}
