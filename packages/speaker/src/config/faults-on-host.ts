import { dirname } from 'node:path';
import { type CrossFieldFault, hostFaults, type NamedOnHost } from '@bgp-lb/daemon';
import type { SpeakerConfig } from './speaker-config.ts';

/** What is on this host and makes a good configuration fail here. */
export function faultsOnHost({ routers, apiServer, bootstrap, api }: SpeakerConfig): CrossFieldFault[] {
  return hostFaults([
    ...routers.flatMap(({ address, passwordFile, nextPasswordFile }, i): NamedOnHost[] => [
      { path: ['routers', i, 'passwordFile'], value: passwordFile, is: 'password' },
      { path: ['routers', i, 'nextPasswordFile'], value: nextPasswordFile, is: 'password' },
      { path: ['routers', i, 'address'], value: address, is: 'other-host' },
    ]),
    { path: ['apiServer', 'caFile'], value: apiServer.caFile, is: 'file' },
    { path: ['bootstrap', 'stateDir'], value: bootstrap.stateDir, is: 'folder' },
    { path: ['api', 'socket'], value: dirname(api.socket), is: 'folder' },
  ]);
}
