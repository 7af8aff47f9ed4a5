import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority, issueServingCertificate } from '../../scripts/lab/cluster-pki.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { inspect, routerConfig, speakerConfig, speakerPlaces } from '../kit/debian-packages.ts';
import { announced, shutdownFiles } from '../kit/shutdown-host.ts';
import { ShutdownWitness } from '../kit/shutdown-witness.ts';
import { SystemdMachine } from '../kit/systemd-machine.ts';

const script = fileURLToPath(new URL('../../scripts/deb.ts', import.meta.url));
const units = ['bgp-lb-router.service', 'bgp-lb-router-drain.service'];

/** NET_BIND_SERVICE is 10, NET_ADMIN 12, NET_RAW 13, SYS_NICE 23 (linux/capability.h). */
const fourCapabilities = '0000000000803400';

const speakerUnits = ['bgp-lb-drain.service', 'bgp-lb-vip-route.service'];

let machine: SystemdMachine;
let folder: string;
let files: { readonly router: string; readonly speaker: string };

// One machine with systemd for all of it: what an operator does, in that order.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-deb-test-'));
  const made = execFileSync(process.execPath, [script, folder], { encoding: 'utf8' });
  const [router = '', speaker = ''] = made.trim().split('\n');
  files = { router, speaker };
  machine = await SystemdMachine.start();
}, 180_000);
afterAll(async () => {
  await machine?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Installs a package, and keeps no second copy of it in the machine's memory. */
async function install(file: string): Promise<void> {
  machine.provide(file, '/run/package.deb');
  await machine.run('dpkg', '--force-unsafe-io', '--install', '/run/package.deb');
  await machine.run('rm', '/run/package.deb');
}

const lines = async (...argv: string[]): Promise<string[]> => (await machine.run(...argv)).trim().split('\n');
/** What units have logged, in its order. */
const logOf = async (...names: string[]): Promise<string> => {
  await machine.run('journalctl', '--sync');
  return machine.run('journalctl', '--output=cat', ...names.map((name) => `--unit=${name}`));
};

/** The members of a package (deb(5)), which is an archive of ar(5). */
function members(file: string): string[] {
  const archive = readFileSync(file);
  const names: string[] = [];
  for (let at = 8; at < archive.length; ) {
    const size = Number(archive.toString('latin1', at + 48, at + 58));
    names.push(archive.toString('latin1', at, at + 16).trim());
    at += 60 + size + (size % 2);
  }
  return names;
}

describe.each(['router', 'speaker'] as const)('the Debian package of the %s', (name) => {
  it('is compressed by what takes seconds, and what dpkg of Debian 12 unpacks', () => {
    expect(members(files[name])).toEqual(['debian-binary', 'control.tar.zst', 'data.tar.zst']);
  });
});

describe('the Debian package of the router', { timeout: 240_000 }, () => {
  const mainPid = async (unit = 'bgp-lb-router'): Promise<string> =>
    (await machine.run('systemctl', 'show', '--property=MainPID', '--value', unit)).trim();

  it("is all root's, and keeps what an administrator may change", () => {
    expect(files.router).toMatch(/\/bgp-lb-router_\d+\.\d+\.\d+_(amd64|arm64)\.deb$/);
    expect(inspect(files.router)).toEqual({
      owners: ['root/root'],
      conffiles: '/etc/iproute2/rt_protos.d/bgp-lb.conf\n',
    });
  });

  it('installs with a user of its own, enabled, and waits for its configuration', async () => {
    await install(files.router);
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
    machine.write('/etc/bgp-lb/router.yaml', routerConfig);
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
    machine.write('/etc/bgp-lb/router.yaml', routerConfig.replace('asn: 64512', 'asn: 0'));
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
    expect((await machine.try('systemctl', 'reload', 'bgp-lb-router')).code).not.toBe(0);
    expect(await logOf('bgp-lb-router.service')).toMatch(/asn: .*0/);
    machine.write('/etc/bgp-lb/router.yaml', routerConfig);
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
  });

  it('has HAProxy as a service of its own, which starts when there is a configuration and outlives the router', async () => {
    const haproxy = 'bgp-lb-haproxy.service';
    expect((await machine.try('systemctl', 'is-active', haproxy)).stdout).toBe('inactive\n');
    expect(
      await machine.try('systemd-analyze', 'verify', '--man=no', haproxy, 'bgp-lb-haproxy.path'),
    ).toMatchObject({ code: 0, stderr: '' });
    await machine.run('systemctl', 'start', 'bgp-lb-haproxy.path');
    await changeDataPlane(routerConfig.replace('{ proxyInterfaces: [eth0] }', '{ kind: haproxy }'));
    const fib = async (): Promise<string> => (await machine.try('bgp-lb-router', 'fib', '--diff')).stdout;
    await expect.poll(fib, { timeout: 20_000 }).toContain('no differences');
    const before = await mainPid(haproxy);
    expect(Number(before)).toBeGreaterThan(0);
    expect(await machine.run('ss', '-Hltn')).toContain('10.100.0.1:6443');
    expect(await machine.run('grep', '-E', '^Cap(Prm|Eff|Bnd)', `/proc/${before}/status`)).not.toMatch(
      /[1-9a-f][0-9a-f]{5}$/m,
    );
    await machine.run('systemctl', 'restart', 'bgp-lb-router');
    await expect.poll(fib, { timeout: 20_000 }).toContain('no differences');
    expect(await mainPid(haproxy)).toBe(before);
    await machine.run('systemctl', 'stop', 'bgp-lb-haproxy.path', haproxy);
    await changeDataPlane(routerConfig);
    expect(await machine.run('ip', 'route', 'show', 'table', 'local', 'proto', '84')).toBe('');
  });

  it('has keepalived as a service of its own, as the user of the router, which leaves no address when it is killed', async () => {
    const [keepalived, path] = ['bgp-lb-keepalived.service', 'bgp-lb-keepalived.path'];
    const verified = await machine.try('systemd-analyze', 'verify', '--man=no', keepalived, path);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    await machine.run('systemctl', 'start', path);
    await changeDataPlane(`${routerConfig}\nvrrp: { interface: eth0, peers: [10.0.0.77] }\n`);
    const status = async (): Promise<string> => (await machine.try('bgp-lb-router', 'status')).stdout;
    await expect.poll(status, { timeout: 20_000 }).toMatch(/eth0 +1 +master/);
    const addresses = (): Promise<string> => machine.run('ip', '-brief', 'address', 'show', 'dev', 'lo');
    expect(await addresses()).toContain('169.254.77.1/32');
    expect(await machine.run('ps', '-o', 'user=', '-p', await mainPid(keepalived))).toBe('bgp-lb\n');
    await machine.run('systemctl', 'stop', 'bgp-lb-router', path);
    await machine.run('systemctl', 'kill', '--kill-whom=all', '--signal=KILL', keepalived);
    await machine.run('systemctl', 'stop', keepalived);
    expect(await addresses()).not.toContain('169.254.');
    await changeDataPlane(routerConfig);
  });

  /** As docs/haproxy.md says: what one kind has made is removed before the other begins. */
  async function changeDataPlane(next: string): Promise<void> {
    await machine.run('systemctl', 'stop', 'bgp-lb-router');
    await machine.run('bgp-lb-router', 'uninstall');
    machine.write('/etc/bgp-lb/router.yaml', next);
    await machine.run('systemctl', 'start', 'bgp-lb-router');
  }

  it('is upgraded by a restart that drains nothing', async () => {
    const before = await mainPid();
    await install(files.router);
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

describe('the Debian package of the speaker', { timeout: 240_000 }, () => {
  it("is all root's, and has what must hold from the boot on", async () => {
    expect(inspect(files.speaker)).toEqual({
      owners: ['root/root'],
      conffiles: '/etc/iproute2/rt_protos.d/bgp-lb-speaker.conf\n',
    });
    const settings = ['net.ipv4.conf.all.arp_ignore', 'net.ipv4.conf.all.arp_announce'];
    await machine.run('sysctl', '-qw', ...settings.map((name) => `${name}=0`));
    await install(files.speaker);
    expect(await machine.run('dpkg', '--verify', 'bgp-lb-speaker')).toBe('');
    expect(await lines('sysctl', '-n', ...settings)).toEqual(['1', '2']);
    expect(await lines('systemctl', 'is-enabled', ...speakerUnits)).toEqual(['enabled', 'enabled']);
    // Without a configuration no route is to be put anywhere. The other one waits for the end of the host.
    expect((await machine.try('systemctl', 'is-active', ...speakerUnits)).stdout).toBe('active\ninactive\n');
    expect(await machine.try('systemd-analyze', 'verify', '--man=no', ...speakerUnits)).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(await machine.run('bgp-lb-speaker', '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('exposes no more than docs/install.md says', async () => {
    for (const [unit, most] of [
      ['bgp-lb-drain.service', '10'],
      ['bgp-lb-vip-route.service', '17'],
    ] as const) {
      await machine.run('systemd-analyze', 'security', '--no-pager', `--threshold=${most}`, unit);
    }
  });

  it('prepares the host, gives the kubelet its manifest, and has the routes at each boot', async () => {
    await machine.run('mkdir', '-p', '/var/lib/bgp-lb');
    machine.write('/etc/bgp-lb/speaker.yaml', speakerConfig);
    machine.write('/var/lib/bgp-lb/bootstrapped', '');
    expect(await machine.run('bgp-lb-speaker', 'prepare', '--role', 'join')).toContain(
      '10.100.0.2/32 goes by 10.0.0.1',
    );
    expect((await machine.try('ls', '/var/lib/bgp-lb/bootstrapped')).code).not.toBe(0);
    await machine.run('bgp-lb-speaker', 'manifest', '--image', 'x/y:1', '--place');
    expect(await lines('ls', '-A', '/etc/kubernetes/manifests')).toContain('bgp-lb-speaker.yaml');
    expect(await machine.run('cat', '/etc/kubernetes/manifests/bgp-lb-speaker.yaml')).toBe(
      await machine.run('bgp-lb-speaker', 'manifest', '--image', 'x/y:1'),
    );
    // A boot: the routes have gone, and the proof of bootstrap has not.
    machine.write('/var/lib/bgp-lb/bootstrapped', '');
    await machine.run('ip', 'route', 'delete', '10.100.0.2');
    await machine.run('systemctl', 'start', 'bgp-lb-vip-route');
    expect(await machine.run('ip', 'route', 'show', '10.100.0.2')).toMatch(
      /^10\.100\.0\.2 via 10\.0\.0\.1 dev eth0 proto bgp-lb metric 8400/,
    );
    await machine.run('ls', '/var/lib/bgp-lb/bootstrapped');
  });

  it('has doctor compare its drain unit with the configuration, drop-ins included', async () => {
    const findings = async (more: string): Promise<readonly unknown[]> => {
      // This host's own address: where no host is, each look would wait for an answer.
      machine.write('/etc/bgp-lb/doctor.yaml', speakerConfig.replace('10.0.0.1', '10.0.0.10') + more);
      const { stdout } = await machine.try(
        ...['bgp-lb-speaker', 'doctor', '-o', 'json', '--config', '/etc/bgp-lb/doctor.yaml'],
      );
      const all = JSON.parse(stdout) as readonly { readonly check: string }[];
      return all.filter(({ check }) => check === 'drain unit');
    };
    const other = 'drain: { timeout: 5m }\napi: { socket: /run/elsewhere/speaker.sock }\n';
    expect(await findings(other)).toMatchObject([
      { level: 'fault', fix: expect.stringContaining('BGP_LB_SOCKET=/run/elsewhere/speaker.sock') },
      { level: 'fault', fix: expect.stringContaining('TimeoutStopSec=330') },
    ]);
    // What docs/install.md and the findings say.
    const dropIn = '[Service]\nEnvironment=BGP_LB_SOCKET=/run/elsewhere/speaker.sock\nTimeoutStopSec=330\n';
    await machine.run('mkdir', '-p', '/run/systemd/system/bgp-lb-drain.service.d');
    machine.write('/run/systemd/system/bgp-lb-drain.service.d/socket.conf', dropIn);
    await machine.run('systemctl', 'daemon-reload');
    expect(await findings(other)).toMatchObject([{ level: 'good' }]);
    await machine.run('rm', '-r', '/run/systemd/system/bgp-lb-drain.service.d', '/etc/bgp-lb/doctor.yaml');
    await machine.run('systemctl', 'daemon-reload');
  });

  it('leaves a pod that may serve alone when it is removed', async () => {
    // What dpkg runs before it removes the files.
    const { code, stderr } = await machine.try('/var/lib/dpkg/info/bgp-lb-speaker.prerm', 'remove');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('the static pod') });
    expect(await lines('ls', '/etc/kubernetes/manifests')).toContain('bgp-lb-speaker.yaml');
    expect(await machine.run('ip', 'route', 'show', '10.100.0.2')).not.toBe('');
    expect(await machine.run('systemctl', 'is-active', 'bgp-lb-drain')).toBe('active\n');
  });

  it('leaves nothing but the configuration after uninstall and purge', async () => {
    expect(await machine.run('bgp-lb-speaker', 'uninstall')).toContain('bgp-lb-speaker.yaml');
    await machine.run('dpkg', '--purge', 'bgp-lb-speaker');
    expect((await machine.try('ls', '-d', ...speakerPlaces)).stdout).toBe('');
    expect((await machine.try('systemctl', 'cat', ...speakerUnits)).code).not.toBe(0);
    expect(await machine.run('systemctl', 'list-units', '--all', '--no-legend', ...speakerUnits)).toBe('');
    expect(await machine.run('ip', 'route', 'show', 'table', 'all', 'proto', '84')).toBe('');
    expect(await machine.run('nft', 'list', 'tables')).toBe('');
    expect(await lines('ls', '/etc/bgp-lb')).toContain('speaker.yaml');
  });
});

describe('the shutdown of a host with both packages', { timeout: 240_000 }, () => {
  let witness: ShutdownWitness;

  afterAll(() => witness?.stop());

  it('drains load balancer and master before kubelet, container runtime and network stop', async () => {
    await machine.try('ip', 'link', 'delete', 'eth0');
    await createAuthority(folder);
    await issueServingCertificate(folder, {
      nodeName: 'machine',
      nodeAddress: '10.9.0.2',
      serviceAddress: '10.96.0.1',
      endpointAddress: '10.100.0.2',
    });
    witness = await ShutdownWitness.start(machine.pid, folder);
    await install(files.router);
    await install(files.speaker);
    await machine.run('mkdir', '-p', '/etc/kubernetes/pki');
    for (const name of ['ca.crt', 'apiserver.crt', 'apiserver.key'])
      machine.provide(join(folder, name), `/etc/kubernetes/pki/${name}`);
    // The marker is younger than the CA.
    for (const [path, content] of Object.entries(shutdownFiles)) {
      await machine.run('mkdir', '-p', dirname(path));
      machine.write(path, content);
    }
    await machine.run('systemd-tmpfiles', '--create', 'bgp-lb-router.conf');
    await machine.run('systemctl', 'daemon-reload');
    // The router runs already, by the configuration that was there.
    await machine.run('systemctl', 'restart', 'network-stand-in', 'kubelet', ...units);
    const { router, speaker } = announced;
    const log = (): Promise<string> => logOf('containerd.service', ...units);
    for (const line of [`${router} normal`, `${speaker} normal`]) await witness.saw(line, log);

    const before = witness.seen.length;
    await machine.powerOff();
    const downs = [
      /^10\.9\.0\.2 down: NOTIFICATION received: .*has drained/,
      /^10\.9\.0\.10 down: TCP connection closed .*by the peer/,
    ];
    // What came by these sessions came by the network, however late a busy witness reads it.
    await waitUntil(() => downs.every((down) => witness.seen.slice(before).some((line) => down.test(line))), {
      what: 'the ends of both sessions',
      timeoutMs: 60_000,
      detail: () => witness.seen.join('\n'),
    });
    const seen = witness.seen.slice(before);
    // The two drain at the same time: each order by itself.
    for (const order of [
      [
        `${speaker} graceful shutdown`,
        `${speaker} withdrawn`,
        'stop kubelet',
        'stop containerd',
        'stop network',
      ],
      [`${router} graceful shutdown`, `${router} withdrawn`, 'stop network'],
    ]) {
      const found = seen.flatMap((line) => order.filter((event) => line.startsWith(event)));
      expect(found, seen.join('\n')).toEqual(order);
    }
  });
});
