import { spawnSync } from 'node:child_process';
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
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acquireInstanceLock } from '@bgp-lb/daemon';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataPlaneProcess, VIP } from '../dataplane/kernel/testing/data-plane-process.ts';
import { LbNamespaces } from '../dataplane/kernel/testing/lb-namespaces.ts';

const program = fileURLToPath(new URL('../../../../dist/bgp-lb-router.mjs', import.meta.url));
const TIMEOUT = 60_000;

let lab: LbNamespaces;
let folder: string;

beforeEach(() => {
  lab = new LbNamespaces(['m1', 'm2']);
  folder = mkdtempSync(join(tmpdir(), 'bgp-lb-uninstall-'));
  mkdirSync(join(folder, 'state'));
  mkdirSync(join(folder, 'run'));
  writeFileSync(
    join(folder, 'router.yaml'),
    `apiVersion: bgp-lb.dev/v1alpha1
kind: Router
asn: 64512
vips: [{ address: 10.100.0.1, port: 6443, machinePort: 6443 }]
neighbors: [{ name: masters, role: master, range: 10.0.0.0/16, asn: 64512 }]
stateDir: ${folder}/state
api: { socket: ${folder}/run/router.sock }
`,
  );
});

afterEach(() => {
  lab.remove();
  rmSync(folder, { recursive: true, force: true });
});

type Outcome = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

function uninstall(...flags: string[]): Outcome {
  return spawnSync('ip', ['netns', 'exec', lab.lb, ...command(flags)], { encoding: 'utf8' });
}

/** By a command that runs the command appended to it. */
function uninstallBy(...launcher: string[]): Outcome {
  return spawnSync('ip', ['netns', 'exec', lab.lb, ...launcher, ...command([])], { encoding: 'utf8' });
}

function command(flags: readonly string[]): string[] {
  return [process.execPath, program, 'uninstall', '--config', join(folder, 'router.yaml'), ...flags];
}

function sysctl(name: string): string {
  return lab.exec('sysctl', '-n', name).trim();
}

/** Everything of the namespace's kernel that a router may have touched, as ip(8) and nft(8) print it. */
function kernel(): string {
  return [
    lab.ip('nexthop'),
    lab.ip('rule'),
    lab.ip('-6', 'rule'),
    // But for what comes with link-local addresses, of which it is not known when they are ready.
    lab.ip('route', 'show', 'table', 'all').replaceAll(/^.*(?:fe80|multicast ff00)::.*\n/gm, ''),
    lab.exec('nft', 'list', 'ruleset'),
  ].join('\n---\n');
}

/** What looks like ours and is not. */
function addForeign(): void {
  lab.ip('nexthop', 'add', 'id', '7', 'via', '10.0.1.11', 'dev', 'to-m1');
  lab.ip('route', 'add', '203.0.113.0/24', 'nhid', '7');
  lab.ip('route', 'add', '198.51.100.0/24', 'via', '10.0.2.11', 'proto', 'static');
  lab.ip('route', 'add', VIP, 'via', '10.0.2.11', 'proto', 'static', 'metric', '90');
  // The speaker's, on a machine that is both.
  lab.ip('route', 'add', VIP, 'via', '10.0.2.11', 'proto', '84', 'metric', '8400');
  lab.ip('rule', 'add', 'fwmark', '7', 'lookup', '77', 'priority', '84');
  lab.exec('nft', 'add table inet bgp_lb_router2; add table inet bgp_lb_speaker; add table ip others');
}

describe('uninstall', { timeout: TIMEOUT }, () => {
  it('leaves the kernel as it was, what is of others included, and a second run finds nothing', async () => {
    const plane = await DataPlaneProcess.in(lab.lb);
    try {
      const speakers = ['10.0.1.11', '10.0.2.11'];
      addForeign();
      const before = kernel();
      await plane.start();
      await plane.setProbed(speakers);
      await plane.setNextHops(speakers.map((nextHop) => ({ nextHop, weight: 256 })));
      await plane.kill();
      writeFileSync(join(folder, 'state/router-id'), '10.0.0.1\n');
      writeFileSync(join(folder, 'state/member-drains.json'), '{}');
      writeFileSync(join(folder, 'state/of-somebody-else'), '');
      const used = kernel();
      expect(used).not.toBe(before);

      const dry = uninstall('--dry-run');
      expect(dry).toMatchObject({ status: 0, stderr: '' });
      expect(dry.stdout).toContain('would remove route 10.100.0.1/32 (group)');
      expect(kernel()).toBe(used);

      const real = uninstall();
      expect(real).toMatchObject({ status: 0, stderr: '' });
      for (const part of [
        '(group)',
        '(unreachable)',
        'rule 84: fwmark',
        'nexthop 84004000',
        'nft table inet',
      ]) {
        expect(real.stdout).toContain(part);
      }
      // What was announced is what was done.
      expect(removals(real.stdout)).toEqual(removals(dry.stdout));
      expect(kernel()).toBe(before);
      expect(readdirSync(join(folder, 'state'))).toEqual(['of-somebody-else']);
      expect(existsSync(join(folder, 'router.yaml'))).toBe(true);
      expect(uninstall().stdout).not.toContain('removed');
    } finally {
      await plane.kill();
    }
  });

  it('removes what was left when HAProxy carried the VIPs, and leaves local routes of others', () => {
    lab.ip('link', 'set', 'lo', 'up');
    lab.ip('route', 'add', 'local', '10.100.0.9/32', 'dev', 'lo', 'proto', '99');
    const before = kernel();
    lab.ip('route', 'add', 'local', '10.100.0.1/32', 'dev', 'lo', 'proto', '84');
    lab.ip('-6', 'route', 'add', 'local', 'fd00::100/128', 'dev', 'lo', 'table', 'local', 'proto', '84');
    mkdirSync(join(folder, 'state/haproxy'));
    writeFileSync(join(folder, 'state/haproxy/haproxy.cfg'), '');
    const dry = uninstall('--dry-run');
    expect(dry.stdout).toContain('would remove local route 10.100.0.1/32');
    const { status, stdout, stderr } = uninstall();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('haproxy/haproxy.cfg');
    expect(removals(stdout)).toEqual(removals(dry.stdout));
    expect(kernel()).toBe(before);
    expect(existsSync(join(folder, 'state'))).toBe(false);
    expect(uninstall().stdout).not.toContain('removed');
  });

  it('gives settings their former values, but not those that others rely on or have set since', () => {
    const changed = {
      'net.ipv4.fib_multipath_hash_policy': ['0', '1'],
      'net.ipv4.conf.to-m1.rp_filter': ['1', '2'],
      'net.ipv4.conf.gone.rp_filter': ['1', '2'],
      'net.ipv4.ip_forward': ['0', '1'],
      'net.ipv4.conf.all.send_redirects': ['1', '0'],
    } as const;
    for (const [name, [, after]] of Object.entries(changed)) {
      if (!name.includes('gone')) lab.exec('sysctl', '-w', `${name}=${after}`);
    }
    lab.exec('sysctl', '-w', 'net.ipv4.conf.to-m1.rp_filter=0');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const settings = Object.fromEntries(
      Object.entries(changed).map(([name, [before, after]]) => [name, { before, after }]),
    );
    const scope = `${boot} ${lab.exec('readlink', '/proc/self/ns/net').trim()}`;
    writeFileSync(join(folder, 'state/sysctls.json'), JSON.stringify({ scope, settings }));

    const { stdout } = uninstall();
    expect(stdout).toContain('net.ipv4.fib_multipath_hash_policy: 1 -> 0');
    expect(stdout).toMatch(/left: sysctl net\.ipv4\.ip_forward = 1 \(was 0\): others/);
    expect(stdout).toMatch(/left: sysctl net\.ipv4\.conf\.to-m1\.rp_filter = 0 \(was 1\): somebody else/);
    expect(stdout).not.toContain('gone');
    expect(
      Object.keys(changed)
        .filter((name) => !name.includes('gone'))
        .map(sysctl),
    ).toEqual(['0', '0', '1', '1']);
    expect(existsSync(join(folder, 'state'))).toBe(false);
  });

  it('removes the rest, and says what stays, where nft is missing and settings cannot be written', () => {
    lab.ip('route', 'add', 'unreachable', VIP, 'proto', '84', 'metric', '4000000000');
    const setting = 'net.ipv4.fib_multipath_hash_policy';
    lab.exec('sysctl', '-w', `${setting}=1`);
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const scope = `${boot} ${lab.exec('readlink', '/proc/self/ns/net').trim()}`;
    const settings = { [setting]: { before: '0', after: '1' } };
    writeFileSync(join(folder, 'state/sysctls.json'), JSON.stringify({ scope, settings }));
    const bare = `PATH=$PATH:/usr/sbin:/sbin
      mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys &&
      mount -t tmpfs none "$(dirname "$(command -v nft)")" && exec "$@"`;
    const { status, stdout, stderr } = uninstallBy('unshare', '-m', 'sh', '-c', bare, 'sh');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('removed route 10.100.0.1/32 (unreachable)');
    expect(stdout).toMatch(/left: nft tables, if there are any: nft is not installed/);
    expect(stdout).toContain(
      `left: sysctl ${setting} = 1 (was 0): cannot write sysctl ${setting} = 0: EROFS`,
    );
    expect(lab.ip('route')).not.toContain('unreachable');
    expect(sysctl(setting)).toBe('1');
  });

  it('is refused while a router runs, and makes no folder where there was none', async () => {
    const lock = await acquireInstanceLock(join(folder, 'state/router.lock'));
    try {
      expect(uninstall()).toMatchObject({
        status: 1,
        stdout: '',
        stderr: expect.stringContaining('another instance is running'),
      });
    } finally {
      lock.release();
    }
    rmSync(join(folder, 'state'), { recursive: true });
    expect(uninstall().status).toBe(0);
    expect(existsSync(join(folder, 'state'))).toBe(false);
  });
});

function removals(text: string): string[] {
  return [...text.matchAll(/remove[d]? (?!the empty)(.*\S)/g)].map(([, what]) => what ?? '');
}
