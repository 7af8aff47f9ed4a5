import { type CrossFieldFault, multiprotocolFault } from '@bgp-lb/daemon';
import type { RouterConfig } from './router-config.ts';

/** Capabilities that a neighbor cannot be left without, by its other keys. */
export function capabilityFaults({ neighbors }: Pick<RouterConfig, 'neighbors'>): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): readonly CrossFieldFault[] => {
    const { withoutCapabilities: without, address } = neighbor;
    const path = ['neighbors', i, 'withoutCapabilities'];
    if (neighbor.role === 'master') return multiprotocolFault(without, [neighbor.range, address], path);
    if (neighbor.role === 'internal') return multiprotocolFault(without, [address], path);
    const faults = multiprotocolFault(without, [address, neighbor.otherNextHop], path);
    const restart = without.indexOf('graceful-restart');
    if (restart < 0 || neighbor.gracefulRestart !== true) return faults;
    const message = 'contradicts gracefulRestart true';
    const allowed = 'one of the two';
    return [...faults, { path: [...path, restart], message, value: 'graceful-restart', allowed }];
  });
}
