import { join } from 'node:path';
import { RouteSocket } from '@bgp-lb/linux';
import { hostPrefix } from '@bgp-lb/protocol';
import { systemClock } from '@bgp-lb/protocol/node';
import { onLinkInterfaces } from '../config/on-link-interfaces.ts';
import type {
  ChosenConfig,
  HaproxyDataplaneConfig,
  KernelDataplaneConfig,
  RouterConfig,
} from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { MemberView } from '../pool/member-view.ts';
import type { Pool } from '../pool/pool.ts';
import type { DataPlane } from './data-plane.ts';
import { HaproxyDataPlane } from './haproxy/haproxy-data-plane.ts';
import { HaproxyFiles } from './haproxy/haproxy-files.ts';
import { haproxyPaths } from './haproxy/haproxy-paths.ts';
import { HaproxyProcess } from './haproxy/haproxy-process.ts';
import { RunTimeClient } from './haproxy/run-time-client.ts';
import { VipRoutes } from './haproxy/vip-routes.ts';
import { KernelDataPlane } from './kernel/kernel-data-plane.ts';
import { linuxKernelHost } from './kernel/kernel-host.ts';
import { recorded, SysctlRecord } from './kernel/sysctl-record.ts';

/** Everything in the kernel is looked at this often, whatever the kernel says (ms). */
const REPAIR_INTERVAL = 30_000;

/**
 * The data plane that the configuration asks for.
 * @param observer hears of what cannot be read of the kernel
 * @param current has the configuration as it was last taken
 */
export function makeDataPlane(
  config: ChosenConfig,
  observer: { problem(problem: string): void },
  current: { readonly config: RouterConfig },
  ca: Pick<CaFile, 'text'>,
  pools: ReadonlyMap<string, Pick<Pool, 'members'>>,
): DataPlane {
  const { dataplane } = config;
  switch (dataplane.kind) {
    case 'kernel':
      return kernelDataPlane(dataplane, config, current, (error) => observer.problem(error.message));
    case 'haproxy':
      return haproxyDataPlane(dataplane, config, current, ca, pools);
  }
}

function haproxyDataPlane(
  dataplane: HaproxyDataplaneConfig,
  { vips, vrrp }: RouterConfig,
  current: { readonly config: RouterConfig },
  ca: Pick<CaFile, 'text'>,
  pools: ReadonlyMap<string, Pick<Pool, 'members'>>,
): DataPlane {
  const paths = haproxyPaths(dataplane);
  const { maxConnections, idleTimeout, userTimeout, exporter, hardStopAfter, localVips, protocol } =
    dataplane;
  return new HaproxyDataPlane(
    {
      settings: () => ({
        check: current.config.healthCheck,
        paths,
        maxConnections,
        idleTimeout,
        userTimeout,
        exporter,
        hardStopAfter,
      }),
      vips,
      ca: () => ca.text,
      isOverruled: (vip, nextHop) =>
        pools
          .get(vip)
          ?.members()
          .some((member) => member.nextHop === nextHop && isUsedAgainstHealth(member)) === true,
    },
    {
      haproxy: new HaproxyProcess(new RunTimeClient(paths.socket), new RunTimeClient(paths.masterSocket)),
      files: new HaproxyFiles(paths, 'haproxy'),
      routes: vipRoutes(localVips, vrrp !== undefined, protocol),
      clock: systemClock,
    },
  );
}

/** A host that has a VIP as a local route answers for it: under VRRP none has one, whatever was there before. */
function vipRoutes(
  localVips: boolean,
  isVrrp: boolean,
  protocol: number,
): Pick<VipRoutes, 'apply' | 'differences'> | undefined {
  if (!localVips) return undefined;
  const routes = new VipRoutes(new RouteSocket(), protocol);
  return isVrrp ? { apply: () => routes.apply([]), differences: () => routes.differences([]) } : routes;
}

/** By the panic rule, or as a last resort. */
function isUsedAgainstHealth({ inPool, health, state }: MemberView): boolean {
  return inPool && (health === 'failing' || (health === 'unknown' && state === 'last-resort'));
}

function kernelDataPlane(
  dataplane: KernelDataplaneConfig,
  config: RouterConfig,
  current: { readonly config: RouterConfig },
  onError: (error: Error) => void,
): DataPlane {
  const { vips, manageSysctls, stateDir } = config;
  const host = linuxKernelHost(systemClock, onError);
  const record = new SysctlRecord(join(stateDir, stateFiles.sysctls));
  return new KernelDataPlane(
    {
      ...dataplane,
      proxyInterfaces: onLinkInterfaces(config),
      vips: vips.map(({ address, port }) => ({ prefix: hostPrefix(address), address, port })),
      upstreams: () =>
        current.config.neighbors.flatMap((one) => (one.role === 'upstream' ? [one.address] : [])),
      manageSysctls,
      repairInterval: REPAIR_INTERVAL,
    },
    { ...host, sysctl: recorded(host.sysctl, record, onError) },
  );
}
