import { type CrossFieldFault, listenerFault, probeTimeFaults, vipPortFaults } from '@bgp-lb/daemon';
import type { SpeakerConfig } from './speaker-config.ts';

/** Values that are good by themselves, and with which other keys, BGP or the API server cannot work. */
export function unusableValues(config: SpeakerConfig): CrossFieldFault[] {
  const { api, apiServer, vips } = config;
  const ports = [...new Set(vips.map(({ machinePort }) => machinePort))];
  return [
    ...vipPortFaults(vips),
    ...probeTimeFaults(apiServer, 'apiServer'),
    ...pathFaults(config),
    ...selfFaults(config),
    ...ports.flatMap((port) =>
      listenerFault(['api', 'listen'], api.listen, {
        addresses: ['0.0.0.0', '::'],
        port,
        name: 'the API server (machinePort)',
      }),
    ),
  ];
}

/** Of the API server's paths only /readyz has the check `shutdown`, and with it turns red before the port is closed. */
function pathFaults({ apiServer: { path } }: SpeakerConfig): CrossFieldFault[] {
  if (!/^\/(livez|healthz)([/?]|$)/.test(path)) return [];
  return [
    {
      path: ['apiServer', 'path'],
      message: 'stays green while the API server stops, so that clients would be sent to one that ends',
      value: path,
      allowed: '/readyz',
    },
  ];
}

/** A router that is this node. */
function selfFaults({ routers, apiServer }: SpeakerConfig): CrossFieldFault[] {
  return routers.flatMap(({ address }, index): CrossFieldFault[] => {
    const own = address === apiServer.address || routers.some((one) => one.sourceAddress === address);
    if (!own) return [];
    const key = address === apiServer.address ? 'apiServer.address' : 'sourceAddress';
    const message = `is ${key}: it is this node itself`;
    return [
      { path: ['routers', index, 'address'], message, value: address, allowed: 'an address of the router' },
    ];
  });
}
