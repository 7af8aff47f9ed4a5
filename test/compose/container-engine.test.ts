import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContainerEngine } from '../../scripts/engine/container-engine.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

/** What an engine that is not kept apart would change of the machine. */
function machine(): unknown {
  const settings = ['ip_forward', 'conf/all/forwarding', 'conf/default/rp_filter'];
  return {
    interfaces: readdirSync('/sys/class/net').filter((name) => /^(docker|br-|veth|tap)/.test(name)),
    sysctls: settings.map((name) => readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8')),
    firewall: spawnSync('nft', ['list', 'ruleset'], { encoding: 'utf8' }).stdout,
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes('bgp-lb-engine-')),
    controlGroups: spawnSync('find', ['/sys/fs/cgroup', '-name', 'bgp-lb-engine-*'], { encoding: 'utf8' })
      .stdout,
  };
}

describe('ContainerEngine', { timeout: 120_000 }, () => {
  let engine: ContainerEngine | undefined;
  let userFolder: string;
  beforeEach(() => {
    userFolder = mkdtempSync(`${tmpdir()}/bgp-lb-docker-config-`);
    vi.stubEnv('DOCKER_CONFIG', userFolder);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await engine?.stop();
    engine = undefined;
    rmSync(userFolder, { recursive: true });
  });

  it('answers at its own socket, with bridge and firewall where the machine does not see them, and has the plugins of the user', async () => {
    const before = machine();
    mkdirSync(`${userFolder}/cli-plugins`);
    const metadata = '{"SchemaVersion":"0.1.0","Vendor":"a test","Version":"1"}';
    const plugin = `#!/bin/sh\n[ "$1" = docker-cli-plugin-metadata ] && exec echo '${metadata}'\necho plugged in\n`;
    writeFileSync(`${userFolder}/cli-plugins/docker-witness`, plugin, { mode: 0o755 });
    engine = await ContainerEngine.start();
    expect(await engine.run(['docker', 'witness'])).toBe('plugged in\n');
    expect(await engine.run(['docker', 'network', 'ls', '--format', '{{.Name}}'])).toContain('bridge');
    expect(machine()).toEqual(before);
    await engine.stop();
    expect(machine()).toEqual(before);
    expect(existsSync(engine.folder)).toBe(false);
    expect(existsSync(`${userFolder}/cli-plugins/docker-witness`)).toBe(true);
  });

  it('ends with its owner, even when that is killed', async () => {
    const program = `
      const { ContainerEngine } = await import('${new URL('../../scripts/engine/container-engine.ts', import.meta.url)}');
      console.log((await ContainerEngine.start()).folder);
      setInterval(() => undefined, 1000);`;
    const owner = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const folder = await new Promise<string>((resolve, reject) => {
      owner.stdout.once('data', (data: Buffer) => resolve(data.toString().trim()));
      owner.once('exit', () => reject(new Error('the owner ended before its engine was ready')));
    });
    expect(existsSync(`${folder}/docker.sock`)).toBe(true);
    owner.kill('SIGKILL');
    await waitUntil(() => !existsSync(folder), { what: `removal of ${folder}`, timeoutMs: 60_000 });
  });

  it('finds the engines to stop by what it started itself', async () => {
    engine = await ContainerEngine.start({ isKept: true });
    expect(engine.folder.startsWith(tmpdir())).toBe(true);
    const found = ContainerEngine.kept().map(({ folder }) => folder);
    expect(found).toContain(engine.folder);
    await engine.stop();
    expect(ContainerEngine.kept().map(({ folder }) => folder)).not.toContain(engine.folder);
  });
});
