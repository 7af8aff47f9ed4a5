import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { type Finding, fault, good } from '@bgp-lb/daemon';
import { RouteSocket } from '@bgp-lb/linux';
import type { HaproxyDataplaneConfig, RouterConfig } from '../../config/router-config.ts';
import type { DataPlaneFootprint } from '../data-plane-footprint.ts';
import { haproxyPaths } from './haproxy-paths.ts';
import { HaproxyProcess, type HaproxySnapshot } from './haproxy-process.ts';
import { RunTimeClient } from './run-time-client.ts';
import { VipRoutes } from './vip-routes.ts';

/** Files of HAProxy, and routes that make the VIPs local. HAProxy itself is a service that the package has. */
export function haproxyFootprint(
  dataplane: HaproxyDataplaneConfig,
  { vips, vrrp }: Pick<RouterConfig, 'vips' | 'vrrp'>,
): DataPlaneFootprint {
  const { protocol, localVips, folder, socket } = dataplane;
  const paths = haproxyPaths(dataplane);
  const read = (): Promise<HaproxySnapshot> =>
    new HaproxyProcess(new RunTimeClient(paths.socket), new RunTimeClient(paths.masterSocket)).read();
  return {
    kind: 'haproxy',
    async examine() {
      const missing =
        localVips && vrrp === undefined
          ? withRoutes(protocol, (routes) => routes.differences(vips.map(({ address }) => address)))
          : [];
      const fix = 'the router makes it while it runs; is CAP_NET_ADMIN missing?';
      return [
        ...missing.map((problem) => fault('route', 'local', problem, fix)),
        await examineProcess(read, socket),
      ];
    },
    async remove(isDry) {
      const removed = withRoutes(protocol, (routes) =>
        isDry
          ? routes.differences([]).map((one) => one.replace(/: there, and no VIP$/, ''))
          : routes.apply([]).map((one) => one.replace(/^delete /, '')),
      );
      const files = [paths.configFile, paths.stateFile, paths.caFile].flatMap((path) => [
        path,
        `${path}.new`,
      ]);
      const present = files.filter((path) => existsSync(path));
      if (!isDry) {
        for (const path of present) rmSync(path, { force: true });
        if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
      }
      const left = existsSync(socket)
        ? ['HAProxy, which runs on with what it has: systemctl stop bgp-lb-haproxy.service']
        : [];
      return { removed: [...removed, ...present], restored: [], left };
    },
    async snapshot() {
      try {
        return { haproxy: await read() };
      } catch (error) {
        return { haproxy: { error: textOf(error) } };
      }
    },
  };
}

async function examineProcess(read: () => Promise<HaproxySnapshot>, socket: string): Promise<Finding> {
  try {
    const { process } = await read();
    return good('HAProxy', socket, `version ${process.version} answers, process ${process.pid}`);
  } catch (error) {
    const fix =
      'systemctl status bgp-lb-haproxy.service; dataplane.socket has to be the one that it was started with';
    return fault('HAProxy', socket, textOf(error), fix);
  }
}

function withRoutes<T>(protocol: number, run: (routes: VipRoutes) => T): T {
  const socket = new RouteSocket();
  try {
    return run(new VipRoutes(socket, protocol));
  } finally {
    socket.close();
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
