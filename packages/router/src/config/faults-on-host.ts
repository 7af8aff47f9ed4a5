import { dirname } from 'node:path';
import { type CrossFieldFault, hostFaults, type NamedOnHost } from '@bgp-lb/daemon';
import type { RouterConfig } from './router-config.ts';

/** What is on this host and makes a good configuration fail here. */
export function faultsOnHost({
  neighbors,
  kubernetes,
  healthCheck,
  stateDir,
  api,
}: RouterConfig): CrossFieldFault[] {
  return hostFaults([
    ...neighbors.flatMap(({ passwordFile, address }, i): NamedOnHost[] => [
      { path: ['neighbors', i, 'passwordFile'], value: passwordFile, is: 'password' },
      { path: ['neighbors', i, 'address'], value: address, is: 'other-host' },
    ]),
    ...(['kubeconfig', 'caFile', 'tokenFile'] as const).map(
      (key): NamedOnHost => ({ path: ['kubernetes', key], value: kubernetes?.[key], is: 'file' }),
    ),
    { path: ['healthCheck', 'caFile'], value: healthCheck.caFile, is: 'file' },
    { path: ['stateDir'], value: stateDir, is: 'folder' },
    { path: ['api', 'socket'], value: dirname(api.socket), is: 'folder' },
  ]);
}
