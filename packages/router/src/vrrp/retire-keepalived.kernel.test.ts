/** keepalived itself is taken out of use. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepalivedConfig } from './keepalived-config.ts';
import { KeepalivedFiles } from './keepalived-files.ts';
import { type KeepalivedPaths, keepalivedPaths } from './keepalived-paths.ts';
import { keepalivedPid } from './keepalived-process.ts';
import { retireKeepalived } from './retire-keepalived.ts';
import { vrrpSettings } from './testing/vrrp-config.ts';

/** keepalived in a network namespace that has `eth0` as the settings know it, and that ends with it. */
const inNamespace = `
  ip link add eth0 type veth peer name eth1
  ip address add 10.0.0.2/24 dev eth0
  exec /usr/sbin/keepalived "$@"
`;

describe('a keepalived that is wanted no more', { timeout: 30_000 }, () => {
  let folder: string;
  let runFolder: string;
  let paths: KeepalivedPaths;
  let child: ChildProcess | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-retire-'));
    runFolder = mkdtempSync(join(tmpdir(), 'bgp-lb-retire-run-'));
    paths = keepalivedPaths({ folder, runFolder });
    child = undefined;
  });
  afterEach(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      await ended;
    }
    for (const one of [folder, runFolder]) rmSync(one, { recursive: true, force: true });
  });

  function write(): void {
    const files = new KeepalivedFiles(paths, 'keepalived');
    files.track({ gaveUp: false, unfit: false, offset: 0 });
    files.touch();
    writeFileSync(paths.configFile, keepalivedConfig(vrrpSettings(), paths, 'root'));
  }

  /** @returns its process id */
  async function run(configFile: string): Promise<number> {
    const files = ['-f', configFile, '-p', paths.pidFile, '-r', join(runFolder, 'vrrp.pid')];
    const command = ['--net', 'sh', '-e', '-c', inNamespace, 'sh', '-n', '-l', '-P', ...files];
    const started = spawn('unshare', command, { stdio: 'ignore' });
    child = started;
    await expect.poll(() => keepalivedPid(paths.pidFile), { timeout: 10_000 }).toBe(started.pid);
    return started.pid ?? 0;
  }

  it('is ended, and its files are gone before a service could start it again', async () => {
    write();
    const pid = await run(paths.configFile);
    const dry = await retireKeepalived(paths, true);
    expect(existsSync(paths.configFile)).toBe(true);
    const { removed, left } = await retireKeepalived(paths, false);
    expect(left).toEqual([]);
    expect(removed).toEqual(dry.removed);
    expect(removed).toEqual(expect.arrayContaining([paths.configFile, `process ${pid} of keepalived`]));
    expect(keepalivedPid(paths.pidFile)).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    expect(await retireKeepalived(paths, false)).toEqual({ removed: [], left: [] });
  });

  it('is named when it does not end, and what it tracks stays', async () => {
    write();
    const pid = await run(paths.configFile);
    child?.kill('SIGSTOP');
    const { removed, left } = await retireKeepalived(paths, false, 300);
    expect(removed).toEqual([paths.configFile]);
    expect(left).toEqual([
      `keepalived (process ${pid}), which may have VIPs still: it does not end within 0.3 s: systemctl stop bgp-lb-keepalived.service`,
    ]);
    expect(readdirSync(folder)).toEqual(['alive', 'fault', 'offset', 'unfit']);
  });

  it('is left alone, with its file, where that is of others', async () => {
    write();
    const ours = readFileSync(paths.configFile, 'utf8');
    writeFileSync(paths.configFile, ours.slice(ours.indexOf('\n') + 1));
    const pid = await run(paths.configFile);
    expect(await retireKeepalived(paths, false)).toEqual({
      removed: [],
      left: [`${paths.configFile}, which others have written`],
    });
    expect([keepalivedPid(paths.pidFile), existsSync(paths.configFile)]).toEqual([pid, true]);
  });

  it('is not one that runs with another file', async () => {
    write();
    const other = join(runFolder, 'other.conf');
    writeFileSync(other, readFileSync(paths.configFile));
    const pid = await run(other);
    expect((await retireKeepalived(paths, false)).removed).not.toContain(`process ${pid} of keepalived`);
    expect(keepalivedPid(paths.pidFile)).toBe(pid);
  });
});
