import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';
import { MARK } from './keepalived-config.ts';
import type { KeepalivedPaths } from './keepalived-paths.ts';
import { isStartedWith, keepalivedPid } from './keepalived-process.ts';

/** keepalived says that it leaves, takes its addresses off, and ends within two seconds (ms). */
const END_LIMIT = 10_000;
/** Between two looks whether it has ended (ms). */
const LOOK = 50;

/**
 * Takes a keepalived that is ours out of use: its configuration, so that it is not started again, then the process, which gives the VIPs
 * up, then the rest of its files. One with a configuration of others is left alone. Idempotent.
 * @param isDry nothing is changed, only said
 * @param endLimit how long it may take to end (ms)
 * @returns what was removed, and what is there still, in words
 */
export async function retireKeepalived(
  paths: KeepalivedPaths,
  isDry: boolean,
  endLimit: number = END_LIMIT,
): Promise<{ readonly removed: readonly string[]; readonly left: readonly string[] }> {
  const { configFile } = paths;
  if (existsSync(configFile) && !isOurs(configFile)) {
    return { removed: [], left: [`${configFile}, which others have written`] };
  }
  const configs = [configFile, `${configFile}.new`].filter((path) => existsSync(path));
  const others = [
    ...[paths.faultFile, paths.unfitFile, paths.offsetFile],
    ...[paths.aliveFile, paths.reloadDueFile],
  ].filter((path) => existsSync(path));
  const pid = keepalivedPid(paths.pidFile);
  const ours = pid !== undefined && isStartedWith(pid, configFile) ? pid : undefined;
  const ended = ours === undefined ? [] : [`process ${ours} of keepalived`];
  if (isDry) return { removed: [...configs, ...ended, ...others], left: [] };
  for (const path of configs) rmSync(path, { force: true });
  const fault = ours === undefined ? '' : await end(ours, paths, endLimit);
  if (fault !== '') {
    // Without what it tracks it would take this host for a good one.
    const fix = 'systemctl stop bgp-lb-keepalived.service';
    return {
      removed: configs,
      left: [`keepalived (process ${ours}), which may have VIPs still: ${fault}: ${fix}`],
    };
  }
  for (const path of others) rmSync(path, { force: true });
  const folder = dirname(configFile);
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  return { removed: [...configs, ...ended, ...others], left: [] };
}

/** @returns why it runs on, in words, or nothing */
async function end(pid: number, { pidFile }: KeepalivedPaths, limit: number): Promise<string> {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const begun = performance.now();
  while (keepalivedPid(pidFile) === pid) {
    if (performance.now() - begun > limit) return `it does not end within ${limit / 1000} s`;
    await setTimeout(LOOK);
  }
  return '';
}

/** What cannot be read, or is no file, is not what this program writes. */
function isOurs(file: string): boolean {
  try {
    return readRegularFile(file, MAX_STATE_SIZE).toString().startsWith(MARK);
  } catch {
    return false;
  }
}
