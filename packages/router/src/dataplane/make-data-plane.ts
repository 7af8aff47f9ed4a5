import { systemClock } from '@bgp-lb/protocol/node';
import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlane } from './data-plane.ts';
import { KernelDataPlane } from './kernel/kernel-data-plane.ts';
import { linuxKernelHost } from './kernel/kernel-host.ts';

/** Everything in the kernel is looked at this often, whatever the kernel says (ms). */
const REPAIR_INTERVAL = 30_000;

/** The data plane that the configuration asks for. @param onError hears of what cannot be read of the kernel */
export function makeDataPlane(
  { vips, dataplane, manageSysctls }: RouterConfig,
  onError: (error: Error) => void,
): DataPlane {
  return new KernelDataPlane(
    {
      ...dataplane,
      vips: vips.map(({ address, port }) => ({ prefix: hostPrefix(address), address, port })),
      manageSysctls,
      repairInterval: REPAIR_INTERVAL,
    },
    linuxKernelHost(systemClock, onError),
  );
}
