import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { acquireInstanceLock, type Command, type CommandContext } from '@bgp-lb/daemon';
import type { RouterConfig } from '../config/router-config.ts';
import { stateFiles } from '../config/state-files.ts';
import type { Removal } from '../dataplane/data-plane-footprint.ts';

/** `uninstall`: the host as if the router had never been there, whatever kind of data plane it had. */
export const uninstallCommand = (load: (context: CommandContext) => RouterConfig): Command => ({
  syntax: 'uninstall',
  describe:
    'Remove everything of the router from the kernel and its folders; what clients have through it breaks',
  takesConfig: true,
  prints: true,
  options: {
    'dry-run': { type: 'boolean', default: false, describe: 'only say what would be done' },
  },
  async run(context) {
    const config = load(context);
    const isDry = context.args['dry-run'] === true;
    // A router that runs would put everything back. Without the folder none can run, and none is to be made.
    const isLocking = !isDry && existsSync(config.stateDir);
    const lock = isLocking ? await acquireInstanceLock(join(config.stateDir, 'router.lock')) : undefined;
    let done: readonly string[];
    try {
      done = await removeAll(config, isDry);
    } finally {
      lock?.release();
    }
    const folders = isDry ? [] : [config.stateDir, dirname(config.api.socket)].filter(removeEmptyFolder);
    const lines = [...done, ...folders.map((folder) => `removed the empty folder ${folder}`)];
    const last = `left: ${dirname(context.configFile)} (configuration and passwords), the program itself, and files of the host that a package or cloud-init has put there (unit, sysctl.d, networkd)`;
    context.print([...lines, last], (all) => ({ columns: ['done'], rows: all.map((line) => [line]) }));
    return 0;
  },
});

async function removeAll(config: RouterConfig, isDry: boolean): Promise<string[]> {
  const { allFootprints } = await import('../dataplane/make-footprint.ts');
  const { removeVrrp } = await import('../vrrp/vrrp-footprint.ts');
  const removals: Removal[] = [{ ...(await removeVrrp(config, isDry)), restored: [] }];
  for (const footprint of allFootprints(config)) removals.push(await footprint.remove(isDry));
  const removed = [...new Set(removals.flatMap((one) => one.removed))];
  const restored = removals.flatMap((one) => one.restored);
  const left = removals.flatMap((one) => one.left);
  const names = Object.values(stateFiles).flatMap((name) => [name, `${name}.new`]);
  const files = [...names.map((name) => join(config.stateDir, name)), config.api.socket];
  const present = files.filter((path) => existsSync(path));
  if (!isDry) for (const path of present) rmSync(path, { force: true });
  const would = isDry ? 'would ' : '';
  const past = isDry ? '' : 'd';
  return [
    ...[...removed, ...present].map((what) => `${would}remove${past} ${what}`),
    ...restored.map((what) => `${would}restore${past} ${what}`),
    ...left.map((what) => `left: ${what}`),
  ];
}

/** Others may keep files there: the speaker does on a machine that is both. */
function removeEmptyFolder(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length > 0) return false;
  rmdirSync(folder);
  return true;
}
