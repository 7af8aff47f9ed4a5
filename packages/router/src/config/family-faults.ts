import type { CrossFieldFault } from '@bgp-lb/daemon';
import { ipVersion, isSameVersion } from '@bgp-lb/protocol';
import { hasList } from './member-faults.ts';
import type { MasterNeighborConfig, RouterConfig } from './router-config.ts';

/** A VIP comes by sessions of its own family only: their peers are its next hops. */
export function familyFaults({ vips, neighbors }: RouterConfig): CrossFieldFault[] {
  const masters = neighbors.filter(
    (neighbor): neighbor is MasterNeighborConfig => neighbor.role === 'master',
  );
  return vips.flatMap((vip, i) => {
    const { address } = vip;
    const isSame = ({ range, address: own }: MasterNeighborConfig): boolean =>
      isSameVersion(range ?? own ?? '', address);
    return masters.some(isSame) || hasList(vip) || !vip.members.bgp
      ? []
      : [
          {
            path: ['vips', i, 'address'],
            message: 'has no master of its address family among the neighbors',
            value: address,
            allowed:
              'a neighbor of role master with an address or range of the same family, or members.static or configMap',
          },
        ];
  });
}

/** Upstreams are told of the VIPs of their sessions' family, and of the other one where the next hop for it is said. */
export function upstreamFamilyFaults({ vips, neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    if (neighbor.role !== 'upstream') {
      return [];
    }
    const { address, otherNextHop: value, nextHop } = neighbor;
    const path = ['neighbors', i, 'otherNextHop'];
    if (value !== undefined && isSameVersion(value, address)) {
      const message = `is of the family of ${address}: the session's own address is the next hop there`;
      return [{ path, message, value, allowed: `an ${familyName(address, 'other')} address of this host` }];
    }
    if (value !== undefined && nextHop === 'unchanged') {
      const message = 'is not used with nextHop unchanged, which passes on what the masters sent';
      return [{ path, message, value, allowed: 'nextHop self, or a session of each family' }];
    }
    if (value !== undefined && vips.some((vip) => vip.address === value)) {
      return [{ path, message: 'is a VIP', value, allowed: 'an address of this host alone' }];
    }
    if (vips.some((vip) => isSameVersion(vip.address, address)) || value !== undefined) {
      return [];
    }
    const family = familyName(address, 'own');
    return [
      {
        path: ['neighbors', i, 'address'],
        message: `gets no VIP: an ${family} session carries ${family} VIPs, and there is none`,
        value: address,
        allowed: `an ${familyName(address, 'other')} address of the upstream, or otherNextHop`,
      },
    ];
  });
}

/** The family of an address, or the one that it is not of. */
export function familyName(address: string, which: 'own' | 'other'): string {
  return (ipVersion(address) === 6) === (which === 'own') ? 'IPv6' : 'IPv4';
}
