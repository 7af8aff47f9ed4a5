import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
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
  afterEach(async () => {
    await engine?.stop();
    engine = undefined;
  });

  it('answers at its own socket, with bridge and firewall where the machine does not see them', async () => {
    const before = machine();
    engine = await ContainerEngine.start();
    expect(await engine.run(['docker', 'network', 'ls', '--format', '{{.Name}}'])).toContain('bridge');
    expect(machine()).toEqual(before);
    await engine.stop();
    expect(machine()).toEqual(before);
    expect(existsSync(engine.folder)).toBe(false);
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
