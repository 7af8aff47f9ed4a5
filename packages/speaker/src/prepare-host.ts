import { dirname, join } from 'node:path';
import { acquireInstanceLock } from '@bgp-lb/daemon';
import { Nftables, RouteSocket } from '@bgp-lb/linux';
import type { SpeakerConfig } from './config/speaker-config.ts';
import type { Role } from './lifecycle/lifecycle-input.ts';
import { prepare } from './prepare.ts';

/**
 * Runs `prepare` on this host, while no speaker runs: a running one would put everything back.
 * @throws InstanceLockError when a speaker runs, and what `prepare` throws
 */
export async function prepareHost(config: SpeakerConfig, role: Role | undefined): Promise<readonly string[]> {
  const lock = await acquireInstanceLock(join(dirname(config.api.socket), 'speaker.lock'));
  const routes = new RouteSocket();
  try {
    return await prepare({ config, role, routes, nft: new Nftables(), now: new Date().toISOString() });
  } finally {
    routes.close();
    lock.release();
  }
}
