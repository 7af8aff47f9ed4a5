import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'router-cli-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function router(...argv: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, ...argv], { encoding: 'utf8' });
}

function config(text: string): string {
  const path = join(folder, 'router.yaml');
  writeFileSync(path, text);
  return path;
}

const good = `apiVersion: bgp-lb.dev/v1alpha1
kind: Router
asn: 64512
vips:
  - { address: 10.0.0.100, port: 6443, machinePort: 6443 }
neighbors:
  - { name: masters, role: master, range: 10.0.0.0/24, asn: 64512 }
`;

describe('the command line', () => {
  it('says that a good configuration is good', () => {
    const path = config(good);
    expect(router('check-config', '--config', path)).toMatchObject({
      status: 0,
      stdout: `${path} is good\n`,
    });
  });

  it('takes the file to check as an argument too, once', () => {
    const path = config(good);
    expect(router('check-config', path)).toMatchObject({ status: 0, stdout: `${path} is good\n` });
    const twice = router('check-config', path, '--config', path);
    expect(twice.status).toBe(2);
    expect(twice.stderr).toContain('the configuration is named twice');
  });

  it('says on standard error what works and is seldom wanted', () => {
    const open = config(`${good}api: { listen: '0.0.0.0:9474' }\n`);
    const { status, stderr } = router('check-config', '--config', open);
    expect(status).toBe(0);
    expect(stderr).toContain('warning: api.listen 0.0.0.0:9474: every host that reaches this one may read');
    expect(stderr).toContain('warning: VIP 10.0.0.100: lies in the range');
  });

  it('looks at this host, unless the configuration is for another machine', () => {
    const missing = join(folder, 'no-password');
    const path = config(
      `${good.replace('asn: 64512 }', `asn: 64512, passwordFile: ${missing} }`)}stateDir: ${main}\n`,
    );
    const { status, stderr } = router('check-config', '--config', path);
    expect(status).toBe(2);
    expect(stderr).toContain(`${path}:7:`);
    expect(stderr).toContain('neighbors.0.passwordFile: cannot be read: ENOENT');
    expect(stderr).toContain('stateDir: is not a folder');
    expect(router('check-config', '--offline', '--config', path)).toMatchObject({ status: 0 });
    expect(router('run', '--config', path)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('neighbors.0.passwordFile: cannot be read') as string,
    });
  });

  it('names file, line, column, value and what is allowed, and exits with 2', () => {
    const path = config(good.replace('port: 6443', 'port: 70000'));
    const { status, stderr } = router('check-config', '--config', path);
    expect(status).toBe(2);
    expect(stderr).toContain(`${path}:5:`);
    expect(stderr).toContain('vips.0.port');
    expect(stderr).toContain('70000');
  });

  it('checks flags as it checks the file', () => {
    const { status, stderr } = router('check-config', '--config', config(good), '--pool.evictAfter', 'soon');
    expect(status).toBe(2);
    expect(stderr).toContain('--pool.evictAfter');
  });

  it.each([
    [['drain', '--force'], '--force: only with a member'],
    [['drain', '10.0.0.11', '--wait', '2h'], '--wait 2h: allowed is a duration up to 1h'],
  ])('refuses %j', (argv, message) => {
    const { status, stderr } = router(...argv, '--socket', join(folder, 'none.sock'));
    expect(status).toBe(2);
    expect(stderr).toContain(message);
  });

  it('exits with 1 and says so when no router runs', () => {
    const { status, stdout, stderr } = router('status', '--socket', join(folder, 'none.sock'));
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('does not run');
  });

  it('has no command that it does not do', () => {
    const { stdout } = router('--help');
    for (const command of ['run', 'check-config', 'status', 'neighbors', 'routes', 'fib', 'events']) {
      expect(stdout).toContain(`bgp-lb-router ${command}`);
    }
    expect(router('serve').status).toBe(2);
  });
});
