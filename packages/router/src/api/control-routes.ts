import { ControlError, type ControlRoute } from '@bgp-lb/daemon';
import { tcpMd5Counters } from '@bgp-lb/linux';
import {
  type BfdState,
  endpointText,
  formatPrefix,
  formatRouterId,
  nextHopText,
  type Path,
  type RouterId,
} from '@bgp-lb/protocol';
import { schedulingText } from '@bgp-lb/protocol/node';
import type { AutoStatus } from '../auto/data-plane-choice.ts';
import type { NeighborBfd } from '../bfd/neighbor-bfd.ts';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import { canonicalText } from '../bgp/neighbor-options.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import { drainRoutes } from '../drain/drain-routes.ts';
import type { HostDrain } from '../drain/host-drain.ts';
import type { MemberDrains } from '../drain/member-drains.ts';
import type { ClientWatch } from '../evidence/client-watch.ts';
import { fibReport } from '../fib/fib-report.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { MembershipSources } from '../membership/membership-sources.ts';
import type { ForwardingTimes } from '../observe/forwarding-times.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';
import type { PathTester } from '../paths/path-tester.ts';
import type { Pool } from '../pool/pool.ts';
import { rebalanceRoutes } from '../rebalance/rebalance-routes.ts';
import type { Rebalancer } from '../rebalance/rebalancer.ts';
import { resetRoute } from '../reset/reset-route.ts';
import type { VirtualRouter } from '../vrrp/virtual-router.ts';
import {
  type NeighborStatus,
  neighborStatus,
  type RouterRoutes,
  receivedPaths,
  refusedPaths,
  selectionText,
} from './neighbor-status.ts';
import { type RouterStatus, vipStatus } from './router-status.ts';

/** What the API tells about. */
export interface ControlSources {
  /** As it was last taken. */
  readonly config: () => RouterConfig;
  readonly routerId: RouterId;
  readonly version: string;
  /** By VIP, in the order of the configuration. */
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: DataPlane;
  readonly onLink: OnLinkResponder;
  readonly forwardingTimes: ForwardingTimes;
  readonly bgp: BgpNeighbors;
  readonly bfd: NeighborBfd;
  readonly membership: MembershipSources;
  /** Undefined where this host has no part in VRRP. */
  readonly virtualRouter: VirtualRouter | undefined;
  readonly advertiser: UpstreamAdvertiser;
  readonly rebalancer: Rebalancer;
  readonly drain: HostDrain;
  readonly memberDrains: MemberDrains;
  readonly ca: CaFile;
  readonly clients: Pick<ClientWatch, 'of'>;
  readonly now: () => number;
  readonly startedAt: number;
  readonly paths: Pick<PathTester, 'test'>;
  /** Where the data plane is chosen by what members show. */
  readonly auto: () => AutoStatus | undefined;
}

/** The router's own operations of the API. */
export function controlRoutes(sources: ControlSources): ControlRoute[] {
  const get = (path: string, handle: ControlRoute['handle']): ControlRoute => ({
    method: 'GET',
    path,
    handle,
  });
  return [
    get('/api/v1/status', () => routerStatus(sources)),
    get('/api/v1/neighbors', () => neighborStatuses(sources)),
    get('/api/v1/neighbors/:name', ({ params }) => oneNeighbor(sources, params['name'] ?? '')),
    get('/api/v1/routes', () => routerRoutes(sources)),
    get('/api/v1/fib', () => sources.dataPlane.status({ shares: true })),
    get('/api/v1/fib/differences', () => fibReport(sources.dataPlane, sources.onLink)),
    ...drainRoutes(sources.drain, sources.memberDrains),
    ...rebalanceRoutes(sources.rebalancer, sources.pools),
    resetRoute(sources.bgp),
    { method: 'POST', path: '/api/v1/paths', handle: () => sources.paths.test() },
  ];
}

/** `/api/v1/status` */
export async function routerStatus(sources: ControlSources): Promise<RouterStatus> {
  const config = sources.config();
  const { routerId, pools, dataPlane, onLink, bfd, ca, now, version, startedAt } = sources;
  const { vips, ...dataplane } = dataPlane.status({ shares: false });
  const auto = sources.auto();
  return {
    routerId: formatRouterId(routerId),
    asn: config.asn,
    vips: [...pools.values()].map((pool) =>
      vipStatus({
        vip: pool.vip,
        endpoint: endpointOf(config, pool.vip),
        members: pool.members(),
        rules: pool.rules(),
        forwarding: dataPlane.forwarding(pool.vip),
        forwardingSince: sources.forwardingTimes.sinceOf(pool.vip),
        advertisements: sources.advertiser.advertisements(pool.vip),
        obstacle: dataPlane.obstacle(pool.vip),
        clients: sources.clients.of(pool.vip),
        drained: new Set(sources.memberDrains.all().map(({ member }) => member)),
        title: dataplane.title,
        shares: vips.find(({ vip }) => vip === pool.vip)?.members ?? [],
        bfdOf: (nextHop) => bfdStateOf(sources, nextHop),
        now: now(),
      }),
    ),
    memberSources: sources.membership.status(),
    drain: sources.drain.status(),
    healthCheck: ca.state,
    bfd: {
      scheduling: bfd.scheduling === undefined ? null : schedulingText(bfd.scheduling),
      problems: (await bfd.status())?.receive.missing ?? ['BFD is not running, and is started again'],
    },
    dataplane: auto === undefined ? dataplane : { ...dataplane, auto },
    md5: config.neighbors.some(({ passwordFile }) => passwordFile !== undefined) ? tcpMd5Counters() : null,
    onLink: onLink.status().map((one) => ({ ...one, sinceMs: Math.round(now() - onLink.sinceOf(one)) })),
    vrrp: sources.virtualRouter?.status() ?? null,
    version,
    uptimeMs: Math.round(now() - startedAt),
  };
}

/** A member that is gone still belongs to a neighbor: that with which BFD was configured. */
function bfdStateOf({ bfd, config }: ControlSources, nextHop: string): BfdState | 'off' {
  const masters = config().neighbors.filter((one) => one.role === 'master');
  const session = masters.find(({ memberAddress }) => memberAddress === nextHop)?.address ?? nextHop;
  const known = bfd.stateOf(session);
  if (known !== undefined) {
    return known.state;
  }
  const own = masters.filter(({ address }) => address === session);
  return (own.length > 0 ? own : masters).every((neighbor) => neighbor.bfd === false) ? 'off' : 'Down';
}

function endpointOf(config: RouterConfig, vip: string): string {
  const address = vip.split('/')[0] ?? vip;
  const port = config.vips.find((one) => one.address === address)?.port ?? 0;
  return endpointText(address, port);
}

/** `/api/v1/neighbors` */
export async function neighborStatuses({ bgp, bfd }: ControlSources): Promise<NeighborStatus[]> {
  const status = await bfd.status();
  return bgp.peers().map(({ peer, neighbor }) => {
    const session = status?.sessions.find(({ id }) => id === canonicalText(peer.address));
    const known = status === undefined || session === undefined ? undefined : { at: status.at, session };
    return neighborStatus(peer, neighbor, known);
  });
}

async function oneNeighbor(sources: ControlSources, name: string): Promise<NeighborStatus> {
  const all = await neighborStatuses(sources);
  const found = all.find((status) => status.name === name) ?? all.find((status) => status.address === name);
  if (found === undefined) {
    const known = all.map((status) => status.name).join(', ');
    throw new ControlError(404, `no neighbor ${name}; known: ${known === '' ? 'none' : known}`);
  }
  return found;
}

function routerRoutes({ bgp, advertiser, pools, now }: ControlSources): RouterRoutes {
  const whyNotUsable = (path: Path): string => {
    const address = nextHopText(path);
    const member = pools
      .get(formatPrefix(path.prefix))
      ?.members()
      .find((one) => one.nextHop === address);
    return `not forwarded to${member === undefined || member.reason === '' ? '' : `: ${member.reason}`}`;
  };
  const selectionOf = (path: Path): string =>
    selectionText(path, bgp.select(formatPrefix(path.prefix)).paths, whyNotUsable);
  const peers = bgp.peers().map(({ peer }) => peer);
  return {
    received: peers.flatMap((peer) => receivedPaths(peer, now(), selectionOf)),
    rejected: peers.flatMap(refusedPaths),
    advertised: advertiser.advertised(),
  };
}
