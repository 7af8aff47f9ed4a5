import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { SystemdMachine } from '../kit/systemd-machine.ts';

const script = fileURLToPath(new URL('../../scripts/deb.ts', import.meta.url));
const units = ['bgp-lb-router.service', 'bgp-lb-router-drain.service'];

const config = `apiVersion: bgp-lb.dev/v1alpha1
kind: Router
asn: 64512
vips: [{ address: 10.100.0.1, port: 6443, machinePort: 6443 }]
neighbors:
  - { name: masters, role: master, range: 10.0.0.0/24, asn: 64512, passwordFile: /etc/bgp-lb/bgp-password }
  - { name: m9, role: master, address: 10.0.1.19, asn: 64512, bfd: { transmitInterval: 50ms, receiveInterval: 50ms } }
dataplane: { proxyInterfaces: [eth0] }
`;

/** NET_BIND_SERVICE is 10, NET_ADMIN 12, NET_RAW 13, SYS_NICE 23 (linux/capability.h). */
const fourCapabilities = '0000000000803400';

/** The Debian package on a machine with systemd: what an operator does, in that order. */
describe('the Debian package of the router', { timeout: 240_000 }, () => {
  let machine: SystemdMachine;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bgp-lb-deb-test-'));
    file = execFileSync(process.execPath, [script, '--compress', 'none', folder], {
      encoding: 'utf8',
    }).trim();
    machine = await SystemdMachine.start();
    machine.provide(file, '/run/router.deb');
  }, 120_000);
  afterAll(async () => {
    await machine?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const mainPid = async (): Promise<string> =>
    (await machine.run('systemctl', 'show', '--property=MainPID', '--value', 'bgp-lb-router')).trim();
  const lines = async (...argv: string[]): Promise<string[]> =>
    (await machine.run(...argv)).trim().split('\n');
  /** What units have logged, in its order. */
  const logOf = async (...names: string[]): Promise<string> => {
    await machine.run('journalctl', '--sync');
    return machine.run('journalctl', '--output=cat', ...names.map((name) => `--unit=${name}`));
  };

  it("is all root's, and keeps what an administrator may change", () => {
    expect(file).toMatch(/\/bgp-lb-router_\d+\.\d+\.\d+_(amd64|arm64)\.deb$/);
    const owners = execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/)[1]);
    expect([...new Set(owners)]).toEqual(['root/root']);
    expect(execFileSync('dpkg-deb', ['--info', file, 'conffiles'], { encoding: 'utf8' })).toBe(
      '/etc/iproute2/rt_protos.d/bgp-lb.conf\n',
    );
  });

  it('installs with a user of its own, enabled, and waits for its configuration', async () => {
    await machine.run('dpkg', '--force-unsafe-io', '--install', '/run/router.deb');
    expect(await machine.run('dpkg', '--verify', 'bgp-lb-router')).toBe('');
    expect(await machine.run('getent', 'passwd', 'bgp-lb')).toMatch(/:\/usr\/sbin\/nologin\n$/);
    expect(await machine.run('stat', '--format=%U:%G %a', '/etc/bgp-lb')).toBe('root:bgp-lb 750\n');
    expect(await lines('systemctl', 'is-enabled', ...units)).toEqual(['enabled', 'enabled']);
    expect((await machine.try('systemctl', 'is-active', ...units)).stdout).toBe('inactive\ninactive\n');
    expect(await machine.run('bgp-lb-router', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await machine.try('systemd-analyze', 'verify', '--man=no', ...units)).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('runs with four capabilities and a filter of system calls, and does its work so', async () => {
    await machine.run('ip', 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1');
    for (const [device, address] of [
      ['eth0', '10.0.0.10/24'],
      ['eth1', '10.0.1.10/24'],
    ] as const) {
      await machine.run('ip', 'address', 'add', address, 'dev', device);
      await machine.run('ip', 'link', 'set', device, 'up');
    }
    machine.write('/etc/bgp-lb/router.yaml', config);
    machine.write('/etc/bgp-lb/bgp-password', 'a secret\n');
    // As at each boot: what root wrote for itself alone is made readable for the router.
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
    expect(await machine.run('stat', '--format=%U:%G %a', '/etc/bgp-lb/bgp-password')).toBe(
      'root:bgp-lb 640\n',
    );
    expect(await machine.run('bgp-lb-router', 'check-config')).toContain('is good');
    // Type=notify: it has said that it is ready when this returns.
    await machine.run('systemctl', 'start', ...units);

    const status = await machine.run('cat', `/proc/${await mainPid()}/status`);
    for (const kind of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) {
      expect(status).toMatch(new RegExp(`^Cap${kind}:\\s+${fourCapabilities}$`, 'm'));
    }
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(await machine.run('stat', '--format=%U %a', '/run/bgp-lb/router.sock')).toBe('bgp-lb 600\n');
    expect(await machine.run('ip', 'route', 'show', '10.100.0.1')).toMatch(/^unreachable .* proto bgp-lb /);
    expect(await machine.run('nft', 'list', 'tables')).toContain('table inet bgp_lb_router');
    expect((await machine.run('sysctl', '-n', 'net.ipv4.ip_forward')).trim()).toBe('1');
    expect(await machine.run('ss', '--listening', '--tcp', '--numeric')).toMatch(/0\.0\.0\.0:179\b/);
    const thread = ['ps', '-L', '-o', 'comm=,cls=', '-p', await mainPid()];
    await waitUntil(async () => /^bfd\s+FF$/m.test(await machine.run(...thread)), {
      what: 'the BFD thread has SCHED_FIFO',
      timeoutMs: 30_000,
      detail: () => machine.run(...thread),
    });
    await waitUntil(async () => (await machine.run('bgp-lb-router', 'status')).includes('answering'), {
      what: 'the VIP is answered for on eth0 by AF_PACKET',
      timeoutMs: 30_000,
    });
  });

  it('exposes no more than docs/install.md says', async () => {
    for (const [unit, most] of [
      ['bgp-lb-router.service', '25'],
      ['bgp-lb-router-drain.service', '8'],
    ] as const) {
      await machine.run('systemd-analyze', 'security', '--no-pager', `--threshold=${most}`, unit);
    }
  });

  it('reloads, and says why it does not', async () => {
    await machine.run('systemctl', 'reload', 'bgp-lb-router');
    machine.write('/etc/bgp-lb/router.yaml', config.replace('asn: 64512', 'asn: 0'));
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
    expect((await machine.try('systemctl', 'reload', 'bgp-lb-router')).code).not.toBe(0);
    expect(await logOf('bgp-lb-router.service')).toMatch(/asn: .*0/);
    machine.write('/etc/bgp-lb/router.yaml', config);
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
  });

  it('is upgraded by a restart that drains nothing', async () => {
    const before = await mainPid();
    await machine.run('dpkg', '--force-unsafe-io', '--install', '/run/router.deb');
    expect(await mainPid()).not.toBe(before);
    expect(await lines('systemctl', 'is-active', ...units)).toEqual(['active', 'active']);
    expect(await logOf('bgp-lb-router-drain.service')).not.toContain('drained');
  });

  it('is removed after a drain, with what it has in the kernel, and purged without the configuration', async () => {
    await machine.run('ip', 'route', 'add', '198.51.100.0/24', 'via', '10.0.0.1', 'proto', 'static');
    // The unit's own drain then finds that it is done already, and waits no more.
    await machine.run('bgp-lb-router', 'drain', '--wait', '0s');
    await machine.run('dpkg', '--remove', 'bgp-lb-router');
    const log = await logOf(...units);
    expect(log.indexOf('drained: nothing is announced')).toBeGreaterThan(0);
    expect(log.lastIndexOf('bgp-lb-router is stopping')).toBeGreaterThan(
      log.indexOf('drained: nothing is announced'),
    );
    expect(await machine.run('nft', 'list', 'tables')).toBe('');
    expect(await machine.run('ip', 'route', 'show', 'table', 'all', 'proto', '84')).toBe('');
    expect(await machine.run('ip', 'route', 'show', 'proto', 'static')).toContain('198.51.100.0/24');
    await machine.run('dpkg', '--purge', 'bgp-lb-router');
    expect(await lines('ls', '/etc/bgp-lb')).toEqual(['bgp-password', 'router.yaml']);
    expect((await machine.try('ls', '/usr/lib/bgp-lb', '/var/lib/bgp-lb')).stdout).toBe('');
    expect((await machine.try('systemctl', 'is-enabled', ...units)).stdout).not.toContain('enabled\n');
  });
});
