import { type CrossFieldFault, linkLocalDistanceFaults } from '@bgp-lb/daemon';
import { withoutZone, zoneOf } from '@bgp-lb/protocol';
import type { NeighborConfig, RouterConfig } from './router-config.ts';

/** What follows for a neighbor from an address that is good on one link only (RFC 4007 section 6). */
export function linkLocalFaults({ neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, index) => {
    const zone = zoneOf(neighbor.address ?? '');
    const faults = [
      ...linkLocalDistanceFaults(['neighbors', index], neighbor),
      ...sharedFaults(neighbor, index, neighbors),
    ];
    return [
      ...(zone === undefined ? [] : faults),
      ...(neighbor.role === 'upstream' && neighbor.nextHop === 'unchanged'
        ? unchangedFaults(zone, index, neighbors)
        : []),
    ];
  });
}

/** One address on two links is two neighbors, but one TCP-MD5 key of the kernel, and one next hop to the peer that is told of it. */
function sharedFaults(
  neighbor: NeighborConfig,
  index: number,
  neighbors: readonly NeighborConfig[],
): CrossFieldFault[] {
  const plain = withoutZone(neighbor.address ?? '');
  const twins = neighbors.slice(0, index).filter(({ address = '' }) => withoutZone(address) === plain);
  const path = ['neighbors', index];
  return twins.flatMap((twin): CrossFieldFault[] => {
    if (neighbor.passwordFile !== twin.passwordFile) {
      const message = `has the address of ${twin.name} on another link, and another password: the kernel has one for both`;
      const allowed = 'one passwordFile for both, or none';
      return [{ path: [...path, 'address'], message, value: neighbor.address, allowed }];
    }
    if (neighbor.role === 'master' && twin.role === 'master') {
      const message = `has the address of ${twin.name} on another link: masters are told apart by it`;
      const allowed = 'an address that no other master has';
      return [{ path: [...path, 'address'], message, value: neighbor.address, allowed }];
    }
    return [];
  });
}

/** A link-local next hop is of use on its own link only (RFC 2545 section 3). */
function unchangedFaults(
  zone: string | undefined,
  index: number,
  neighbors: readonly NeighborConfig[],
): CrossFieldFault[] {
  const out = neighbors.find((one) => {
    const own = one.role === 'master' && one.memberAddress === 'peer' ? zoneOf(one.address ?? '') : undefined;
    return own !== undefined && own !== zone;
  });
  if (out === undefined) return [];
  return [
    {
      path: ['neighbors', index, 'nextHop'],
      message: `cannot be: ${out.name} is link-local (${out.address}), and this upstream is not on its link`,
      value: 'unchanged',
      allowed: 'self, or a memberAddress for that master',
    },
  ];
}
