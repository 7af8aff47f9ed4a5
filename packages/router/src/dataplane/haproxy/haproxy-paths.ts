import { join } from 'node:path';
import type { HaproxyDataplaneConfig } from '../../config/router-config.ts';
import type { HaproxyPaths } from './haproxy-settings.ts';

/** Where the files of HAProxy are, as configured. Its unit and its container start it with these. */
export function haproxyPaths({ folder, socket, masterSocket }: HaproxyDataplaneConfig): HaproxyPaths {
  return {
    configFile: join(folder, 'haproxy.cfg'),
    stateFile: join(folder, 'server-state'),
    caFile: join(folder, 'ca.crt'),
    socket,
    masterSocket,
  };
}
