import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { acquireInstanceLock, type RunningDaemon } from '@bgp-lb/daemon';
import { Router, type RouterOptions } from './app.ts';

/** Builds the router, takes over what the kernel has, and starts it. */
export async function startRouter(options: RouterOptions): Promise<RunningDaemon> {
  const { config } = options;
  mkdirSync(config.stateDir, { recursive: true, mode: 0o755 });
  const lock = await acquireInstanceLock(join(config.stateDir, 'router.lock'));
  const router = new Router(options, lock);
  await router.start();
  return {
    stop: () => router.stop(),
    reload: () => router.reload(),
    checkWell: () => router.checkWell(),
  };
}
