import { userInfo } from 'node:os';
import { ProtocolListener, RouteSocket } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import type { RouterConfig } from '../config/router-config.ts';
import { RunTimeClient } from '../dataplane/haproxy/run-time-client.ts';
import type { Pool } from '../pool/pool.ts';
import { VRRP_GROUPS, VRRP_PROTOCOL } from './advertisement.ts';
import { haproxyWatch } from './haproxy-watch.ts';
import { forwardingFault } from './host-fitness.ts';
import { KeepalivedFiles } from './keepalived-files.ts';
import { keepalivedPaths } from './keepalived-paths.ts';
import { keepalivedPid, runsKeepalived } from './keepalived-process.ts';
import { NotifyFifo } from './notify-fifo.ts';
import { VirtualRouter, type VirtualRouterHost, type VirtualRouterOptions } from './virtual-router.ts';

/** HAProxy answers within microseconds: one that takes so long twice serves no client (ms). */
const ANSWER_LIMIT = 1_000;

/** A virtual router, and what ends with it. */
export interface RunningVirtualRouter {
  readonly router: VirtualRouter;
  stop(): void;
}

/**
 * Our part of VRRP, where the configuration asks for it.
 * @param current has the configuration as it was last taken
 */
export function makeVirtualRouter(
  { vrrp, dataplane }: RouterConfig,
  current: { readonly config: RouterConfig },
  pools: ReadonlyMap<string, Pick<Pool, 'members'>>,
  clock: Clock,
  handlers: Pick<VirtualRouterOptions, 'changed' | 'contested' | 'problem' | 'repaired'>,
): RunningVirtualRouter | undefined {
  if (vrrp === undefined) return undefined;
  const vips = (): string[] => current.config.vips.map(({ address }) => address);
  const watch =
    dataplane.kind === 'haproxy'
      ? haproxyWatch(new RunTimeClient(dataplane.socket, ANSWER_LIMIT), clock)
      : undefined;
  const routes = new RouteSocket();
  const paths = keepalivedPaths(vrrp);
  const host: VirtualRouterHost = {
    clock,
    paths,
    files: new KeepalivedFiles(paths, 'keepalived'),
    user: userInfo().username,
    links: () => routes.links(),
    addresses: () => routes.addresses(),
    deleteAddress: (key) => routes.deleteAddress(key),
    listen: ({ index, version }, heard) =>
      new ProtocolListener({ index, version, protocol: VRRP_PROTOCOL, group: VRRP_GROUPS[version] }, heard),
    fifo: (told) => new NotifyFifo(paths.fifo, clock, told),
    pid: () => keepalivedPid(paths.pidFile),
    reload: (pid) => process.kill(pid, 'SIGHUP'),
    runsKeepalived,
  };
  const router = new VirtualRouter({
    ...handlers,
    config: () => ({ vrrp: current.config.vrrp ?? vrrp, vips: vips() }),
    kind: dataplane.kind,
    host,
    dataPlaneFault: () => (watch === undefined ? forwardingFault(vips()) : watch.fault),
    missingMembers: () =>
      Math.max(
        0,
        ...[...pools.values()].map((pool) => pool.members().filter(({ inPool }) => !inPool).length),
      ),
  });
  return {
    router,
    stop: () => {
      router.stop();
      watch?.stop();
      routes.close();
    },
  };
}
