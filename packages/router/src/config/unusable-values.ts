import {
  type CrossFieldFault,
  formatDuration,
  listenerFault,
  probeTimeFaults,
  vipPortFaults,
} from '@bgp-lb/daemon';
import type { RouterConfig } from './router-config.ts';

/** Values that are good by themselves, and with which other keys, or BGP, cannot work. */
export function unusableValues(config: RouterConfig): CrossFieldFault[] {
  const { api, listen, healthCheck, vips } = config;
  return [
    ...vipPortFaults(vips),
    ...probeTimeFaults(healthCheck, 'healthCheck'),
    ...flapFaults(config),
    ...ownAsFaults(config),
    ...selfFaults(config),
    ...clusterFaults(config),
    ...listenerFault(['api', 'listen'], api.listen, { ...listen, name: 'BGP (listen.port)' }),
  ];
}

function flapFaults({ pool: { flapHold, flapHoldMax } }: RouterConfig): CrossFieldFault[] {
  if (flapHold <= flapHoldMax) return [];
  return [
    {
      path: ['pool', 'flapHold'],
      message: 'is longer than flapHoldMax',
      value: formatDuration(flapHold),
      allowed: `at most ${formatDuration(flapHoldMax)}, or a longer flapHoldMax`,
    },
  ];
}

/** In our own AS are other load balancers and reflectors: what they get is the members' paths (RFC 4456). */
function ownAsFaults({ asn, neighbors }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap((neighbor, i): CrossFieldFault[] => {
    if (neighbor.role !== 'upstream' || ![neighbor.asn].flat().includes(asn)) return [];
    const message = 'is our own AS, and an upstream is in another';
    const allowed = 'the AS number of the upstream, external, or the role internal';
    return [{ path: ['neighbors', i, 'asn'], message, value: asn, allowed }];
  });
}

/** Any other number of four octets will do (RFC 4456 section 8); 0 is what daemons take for none. */
function clusterFaults({ clusterId }: RouterConfig): CrossFieldFault[] {
  if (clusterId !== '0.0.0.0') return [];
  return [
    {
      path: ['clusterId'],
      message: 'is no CLUSTER_ID',
      value: clusterId,
      allowed: 'any other four octets, like 10.0.0.1, or no clusterId: then it is the router id',
    },
  ];
}

/** A neighbor that is this router, by address or by BGP Identifier. */
function selfFaults({ neighbors, listen, routerId }: RouterConfig): CrossFieldFault[] {
  return neighbors.flatMap(({ address, name }, i): CrossFieldFault[] => {
    if (address === undefined) return [];
    if (listen.addresses.includes(address)) {
      const message = 'is in listen.addresses: it is this router itself';
      return [
        { path: ['neighbors', i, 'address'], message, value: address, allowed: 'an address of another host' },
      ];
    }
    if (address !== routerId) return [];
    const message = `is the address of neighbor ${name}, by which that one is known`;
    return [{ path: ['routerId'], message, value: routerId, allowed: 'an identifier of this router alone' }];
  });
}
