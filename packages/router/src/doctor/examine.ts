import { createServer } from 'node:net';
import {
  ControlClientError,
  checkClock,
  controlRequest,
  type Finding,
  fault,
  good,
  warning,
} from '@bgp-lb/daemon';
import { isClockSynchronized, tcpMd5Counters } from '@bgp-lb/linux';
import type { NeighborStatus, RouterRoutes } from '../api/neighbor-status.ts';
import type { RouterStatus } from '../api/router-status.ts';
import { awaitedListeners } from '../bgp/awaited-listeners.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { makeFootprint } from '../dataplane/make-footprint.ts';
import type { MemberPath } from '../paths/member-path.ts';
import { examineVrrp } from '../vrrp/vrrp-footprint.ts';
import { checkNeighbors } from './check-neighbors.ts';
import { checkPaths } from './check-paths.ts';
import { checkSignatures, checkStatus, checkVipBinding } from './check-status.ts';

/**
 * Looks at everything that the router depends on.
 * @param fixes whether settings of the host that are not as wanted are made
 * @throws NetlinkError, SysctlError where the host cannot be asked at all
 */
export async function examine(config: RouterConfig, fixes: boolean): Promise<readonly Finding[]> {
  const [status, neighbors, paths] = await running(config);
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
    ...(status === undefined || paths === undefined
      ? []
      : checkVipBinding(paths, config.asn, status.dataplane)),
    ...(status === undefined ? [] : await pathFindings(config)),
    ...checkSignatures(hasPasswords ? tcpMd5Counters() : null),
    ...(await makeFootprint(config).examine({ nextHops: [...nextHops], fixes })),
    ...(await vrrpFindings(config, status)),
    checkClock(isClockSynchronized(), new Date()),
  ];
}

async function vrrpFindings(
  config: RouterConfig,
  status: RouterStatus | undefined,
): Promise<readonly Finding[]> {
  const { vrrp } = config;
  if (vrrp === undefined) return [];
  const state = status?.vrrp?.state;
  return examineVrrp({ ...config, vrrp }, state === undefined ? undefined : state === 'master');
}

async function daemonFindings(
  config: RouterConfig,
  status: RouterStatus | undefined,
): Promise<readonly Finding[]> {
  if (status !== undefined) {
    const awaited = awaitedListeners(config.listen.addresses);
    return [
      good('router', config.api.socket, `runs, version ${status.version}`),
      ...awaited.map((text) => warning('bgp port', 'listen.addresses', text, 'bring that interface up')),
      ...checkStatus(status),
    ];
  }
  const start = 'start it: systemctl start bgp-lb-router, and see its log';
  const { addresses, port } = config.listen;
  return [
    warning('router', config.api.socket, 'does not run', start),
    ...(await Promise.all(addresses.map((address) => checkPort(address, port)))),
  ];
}

/** The router that runs makes the requests: through each member, with the marks and routes of its health checks. */
async function pathFindings({ api }: RouterConfig): Promise<readonly Finding[]> {
  try {
    return checkPaths((await controlRequest(api.socket, 'POST', '/api/v1/paths')) as MemberPath[]);
  } catch (error) {
    if (!(error instanceof ControlClientError)) throw error;
    return [warning('path', api.socket, `not tested: ${error.message}`, 'see the log of the router')];
  }
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

/** What a router that runs here says; undefined when none does. */
async function running({
  api,
}: RouterConfig): Promise<
  readonly [RouterStatus | undefined, readonly NeighborStatus[] | undefined, RouterRoutes | undefined]
> {
  try {
    // The daemon is of the same release as this command.
    return (await Promise.all([
      controlRequest(api.socket, 'GET', '/api/v1/status'),
      controlRequest(api.socket, 'GET', '/api/v1/neighbors'),
      controlRequest(api.socket, 'GET', '/api/v1/routes'),
    ])) as [RouterStatus, NeighborStatus[], RouterRoutes];
  } catch (error) {
    if (error instanceof ControlClientError) return [undefined, undefined, undefined];
    throw error;
  }
}
