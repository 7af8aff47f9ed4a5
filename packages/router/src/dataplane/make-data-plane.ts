import { join } from 'node:path';
import { systemClock } from '@bgp-lb/protocol/node';
import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { KernelDataplaneConfig, RouterConfig } from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';
import type { DataPlane } from './data-plane.ts';
import { KernelDataPlane } from './kernel/kernel-data-plane.ts';
import { linuxKernelHost } from './kernel/kernel-host.ts';
import { recorded, SysctlRecord } from './kernel/sysctl-record.ts';

/** Everything in the kernel is looked at this often, whatever the kernel says (ms). */
const REPAIR_INTERVAL = 30_000;

/** The data plane that the configuration asks for. @param onError hears of what cannot be read of the kernel */
export function makeDataPlane(config: RouterConfig, onError: (error: Error) => void): DataPlane {
  const { dataplane } = config;
  switch (dataplane.kind) {
    case 'kernel':
      return kernelDataPlane(dataplane, config, onError);
  }
}

function kernelDataPlane(
  dataplane: KernelDataplaneConfig,
  { vips, manageSysctls, stateDir }: RouterConfig,
  onError: (error: Error) => void,
): DataPlane {
  const host = linuxKernelHost(systemClock, onError);
  const record = new SysctlRecord(join(stateDir, stateFiles.sysctls));
  return new KernelDataPlane(
    {
      ...dataplane,
      vips: vips.map(({ address, port }) => ({ prefix: hostPrefix(address), address, port })),
      manageSysctls,
      repairInterval: REPAIR_INTERVAL,
    },
    { ...host, sysctl: recorded(host.sysctl, record, onError) },
  );
}
