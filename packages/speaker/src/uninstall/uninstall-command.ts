import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acquireInstanceLock,
  type Command,
  ControlClientError,
  controlRequest,
  type InstanceLock,
  InstanceLockError,
} from '@bgp-lb/daemon';
import { loadSpeakerConfig } from '../config/load-speaker-config.ts';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { hostFiles, isHostNetwork, removePath } from '../host-files.ts';
import type { SpeakerStatus } from '../status.ts';

/** Milliseconds that the kubelet may take to end the pod after its manifest is gone. */
const POD_END = 120_000;

/** `uninstall`: the machine as if the speaker had never been on it. */
export const uninstallCommand: Command = {
  syntax: 'uninstall',
  describe: 'Remove everything of the speaker from this machine, except its configuration',
  takesConfig: true,
  prints: true,
  options: {
    force: {
      type: 'boolean',
      default: false,
      describe: 'also while clients are served: their connections to this master break',
    },
  },
  async run(context) {
    const config = loadSpeakerConfig(context);
    if (context.args['force'] !== true) await refuseWhileServing(config);
    const isHost = isHostNetwork();
    const done = isHost ? removePod() : [];
    const lock = await lockAfterPod(config, done.length > 0);
    try {
      const { Nftables, RouteSocket } = await import('@bgp-lb/linux');
      const { uninstall } = await import('./uninstall.ts');
      const routes = new RouteSocket();
      try {
        const files = isHost ? [hostFiles.sysctls] : [];
        done.push(...(await uninstall({ config, routes, nft: new Nftables(), files })));
      } finally {
        routes.close();
      }
    } finally {
      lock.release();
    }
    // Until now the lock was in it.
    const { removeEmptyFolder } = await import('./uninstall.ts');
    const runFolder = dirname(config.api.socket);
    if (removeEmptyFolder(runFolder)) done.push(`removed the empty folder ${runFolder}`);
    const folder = dirname(context.configFile);
    done.push(
      `left: ${folder} (configuration and password), the program itself, and arp_ignore and arp_announce of the links, whose former values are not known`,
    );
    context.print(done, (lines) => ({ columns: ['done'], rows: lines.map((line) => [line]) }));
    return 0;
  },
};

/** @throws Error when a speaker runs and clients may use this master */
async function refuseWhileServing({ api }: SpeakerConfig): Promise<void> {
  let status: SpeakerStatus;
  try {
    // The daemon is of the same release as this command.
    status = (await controlRequest(api.socket, 'GET', '/api/v1/status')) as SpeakerStatus;
  } catch (error) {
    if (error instanceof ControlClientError) return;
    throw error;
  }
  const serving = status.vips.find(({ state }) => state === 'advertised' || state === 'last-resort');
  if (serving === undefined) return;
  throw new Error(
    `${serving.vip} is ${serving.state} here: drain this master first (bgp-lb-speaker drain), or say --force`,
  );
}

/** The static pod and the unit that drains. */
function removePod(): string[] {
  const done = [hostFiles.manifest, hostFiles.drainUnit]
    .filter((path) => removePath(path))
    .map((path) => `removed ${path}`);
  if (done.some((line) => line.endsWith(hostFiles.drainUnit))) {
    // The unit is not stopped: that would drain.
    execFileSync('systemctl', ['daemon-reload'], { stdio: 'ignore' });
  }
  return done;
}

/** The lock, when a pod whose manifest was removed has ended. @throws InstanceLockError when another speaker runs */
async function lockAfterPod(config: SpeakerConfig, isEnding: boolean): Promise<InstanceLock> {
  const path = join(dirname(config.api.socket), 'speaker.lock');
  const end = performance.now() + (isEnding ? POD_END : 0);
  for (;;) {
    try {
      return await acquireInstanceLock(path);
    } catch (error) {
      if (!(error instanceof InstanceLockError) || performance.now() > end) throw error;
      await sleep(500);
    }
  }
}
