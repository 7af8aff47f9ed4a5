import { join } from 'node:path';
import type { VrrpConfig } from '../config/router-config.ts';

/** Where the files of keepalived are. Its unit and its container start it with these. */
export interface KeepalivedPaths {
  readonly configFile: string;
  /** Not `0`: this host gives the VIPs up. */
  readonly faultFile: string;
  /** Not `0`: this host says that it cannot serve. */
  readonly unfitFile: string;
  /** What is added to the priority. */
  readonly offsetFile: string;
  /** Touched while the router lives. */
  readonly aliveFile: string;
  /** There while keepalived has not been told of what was written. */
  readonly reloadDueFile: string;
  readonly fifo: string;
  readonly pidFile: string;
}

/** As configured. */
export function keepalivedPaths({
  folder,
  runFolder,
}: Pick<VrrpConfig, 'folder' | 'runFolder'>): KeepalivedPaths {
  return {
    configFile: join(folder, 'keepalived.conf'),
    faultFile: join(folder, 'fault'),
    unfitFile: join(folder, 'unfit'),
    offsetFile: join(folder, 'offset'),
    aliveFile: join(folder, 'alive'),
    reloadDueFile: join(folder, 'reload-due'),
    fifo: join(runFolder, 'notify.fifo'),
    pidFile: join(runFolder, 'keepalived.pid'),
  };
}
