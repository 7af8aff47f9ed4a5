import { dirname, join } from 'node:path';
import { acquireInstanceLock } from '@bgp-lb/daemon';
import { Nftables, RouteSocket } from '@bgp-lb/linux';
import type { SpeakerConfig } from './config/speaker-config.ts';
import { hostFiles, isHostNetwork, placeFile, sysctlFile } from './host-files.ts';
import { restoreManifest } from './kept-manifest.ts';
import type { RouteReport } from './kernel/vip-routes.ts';
import type { Role } from './lifecycle/lifecycle-input.ts';
import { prepare, prepareRoutes } from './prepare.ts';

/**
 * Runs `prepare` on this host, while no speaker runs: a running one would put everything back.
 * @throws InstanceLockError when a speaker runs, and what `prepare` throws
 */
export async function prepareHost(config: SpeakerConfig, role: Role | undefined): Promise<readonly string[]> {
  const lock = await acquireInstanceLock(join(dirname(config.api.socket), 'speaker.lock'));
  const routes = new RouteSocket();
  try {
    const prepared = await prepare({
      config,
      role,
      routes,
      nft: new Nftables(),
      now: new Date().toISOString(),
    });
    const done = [...prepared, ...restoreManifest(config.bootstrap.stateDir, hostFiles.manifest)];
    // What systemd applies at boot is for the host's own network.
    const isNew = isHostNetwork() && placeFile(hostFiles.sysctls, sysctlFile);
    return isNew ? [...done, `wrote ${hostFiles.sysctls}, which holds from the next boot on`] : done;
  } finally {
    routes.close();
    lock.release();
  }
}

/** The routes to the VIPs alone, for each boot: changes nothing else, and may run beside a speaker. @throws NetlinkError */
export function prepareRoutesOfHost(config: SpeakerConfig): RouteReport {
  const routes = new RouteSocket();
  try {
    return prepareRoutes(config, routes);
  } finally {
    routes.close();
  }
}
