import { ControlError, type ControlRoute, type Readiness } from '@bgp-lb/daemon';
import { tcpMd5Counters } from '@bgp-lb/linux';
import type { RouterId } from '@bgp-lb/protocol';
import { formatRouterId } from '@bgp-lb/protocol';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { Pool } from '../pool/pool.ts';
import {
  type NeighborStatus,
  neighborStatus,
  type RouterRoutes,
  receivedPaths,
  refusedPaths,
} from './neighbor-status.ts';
import { forwardingProblems, type RouterStatus, vipStatus } from './router-status.ts';

/** What the API tells about. */
export interface ControlSources {
  readonly config: RouterConfig;
  readonly routerId: RouterId;
  readonly version: string;
  /** By VIP, in the order of the configuration. */
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: DataPlane;
  readonly bgp: BgpNeighbors;
  readonly advertiser: UpstreamAdvertiser;
  readonly ca: CaFile;
  readonly now: () => number;
  readonly startedAt: number;
}

/** The router's own operations of the API; all of them only read. */
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
  ];
}

/** Ready when every VIP is forwarded to a member. */
export function readiness({ pools, dataPlane }: ControlSources): Readiness {
  const waiting = [...pools.keys()].filter((vip) => dataPlane.forwarding(vip).length === 0);
  return waiting.length === 0
    ? { ready: true }
    : { ready: false, reason: `no member is forwarded to for ${waiting.join(', ')}` };
}

function routerStatus(sources: ControlSources): RouterStatus {
  const { config, routerId, pools, dataPlane, bgp, ca, now, version, startedAt } = sources;
  const fib = dataPlane.status({ shares: false });
  const hasUpstreams = bgp.peers('upstream').length > 0;
  return {
    routerId: formatRouterId(routerId),
    asn: config.asn,
    vips: [...pools.values()].map((pool) =>
      vipStatus({
        vip: pool.vip,
        endpoint: endpointOf(config, pool.vip),
        members: pool.members(),
        forwarding: dataPlane.forwarding(pool.vip),
        hasUpstreams,
        problems: forwardingProblems(fib.vips.find(({ vip }) => vip === pool.vip)),
        now: now(),
      }),
    ),
    healthCheck: ca.state,
    dataplane: { kind: fib.kind, problems: fib.problems },
    md5: config.neighbors.some(({ passwordFile }) => passwordFile !== undefined) ? tcpMd5Counters() : null,
    version,
    uptimeMs: Math.round(now() - startedAt),
  };
}

function endpointOf(config: RouterConfig, vip: string): string {
  const address = vip.split('/')[0] ?? vip;
  const port = config.vips.find((one) => one.address === address)?.port ?? 0;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function neighborStatuses({ bgp }: ControlSources): NeighborStatus[] {
  return bgp.peers().map(({ peer, neighbor }) => neighborStatus(peer, neighbor));
}

function oneNeighbor(sources: ControlSources, name: string): NeighborStatus {
  const all = neighborStatuses(sources);
  const found = all.find((status) => status.name === name) ?? all.find((status) => status.address === name);
  if (found === undefined) {
    const known = all.map((status) => status.name).join(', ');
    throw new ControlError(404, `no neighbor ${name}; known: ${known === '' ? 'none' : known}`);
  }
  return found;
}

function routerRoutes({ bgp, advertiser, now }: ControlSources): RouterRoutes {
  const peers = bgp.peers().map(({ peer }) => peer);
  return {
    received: peers.flatMap((peer) => receivedPaths(peer, now())),
    rejected: peers.flatMap(refusedPaths),
    advertised: advertiser.advertised(),
  };
}
