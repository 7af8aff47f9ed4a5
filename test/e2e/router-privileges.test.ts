import { chownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ROUTER_CAPABILITIES } from '@bgp-lb/speaker/router-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { Daemon } from '../../scripts/lab/daemon.ts';
import type { HostProcess } from '../../scripts/lab/host-process.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import { addresses, startMaster } from '../kit/cluster.ts';

const program = fileURLToPath(new URL('../../dist/bgp-lb-router.mjs', import.meta.url));
const password = 'the-password-of-nobody';
/** A user that owns nothing but what the test gives it. */
const user = 64_321;
const vip = `${vipAddress}/32`;

/** NET_BIND_SERVICE is 10, NET_ADMIN 12, NET_RAW 13, SYS_NICE 23 (linux/capability.h). */
const fourCapabilities = '0000000000803400';

const checkout = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
/** Has a command see the checkout at /mnt too, where a user that may not pass through root's home reaches it. */
const reachable = [
  ...['unshare', '--mount', 'sh', '-ec'],
  `mount --bind ${checkout} /mnt
for word do
  shift
  case $word in ${checkout}/*) word=/mnt\${word#${checkout}} ;; esac
  set -- "$@" "$word"
done
exec "$@"`,
  'sh',
];

/** Runs a program as the unit of the package does: another user than root, with its capabilities and no way to more. */
function asUnit(...argv: readonly string[]): readonly string[] {
  const names = ROUTER_CAPABILITIES.split(' ').map((name) => name.replace('CAP_', '+').toLowerCase());
  const set = ['-all', ...names].join();
  const limits = ['--bounding-set', set, '--inh-caps', set, '--ambient-caps', set, '--no-new-privs'];
  return [
    ...reachable,
    'setpriv',
    '--reuid',
    `${user}`,
    '--regid',
    `${user}`,
    '--clear-groups',
    ...limits,
    ...argv,
  ];
}

describe('a router that is not root', () => {
  let lab: Lab;
  let router: HostProcess;
  let before: string;

  /** What of the load balancer's kernel a router may have touched. */
  async function kernel(): Promise<string> {
    const parts = [
      ['ip', 'nexthop'],
      ['ip', 'rule'],
      ['ip', 'route', 'show', 'table', 'all', 'proto', '84'],
      ['nft', 'list', 'tables'],
      ['sysctl', 'net.ipv4.fib_multipath_hash_policy', 'net.ipv4.conf.eth0.send_redirects'],
    ];
    return (await Promise.all(parts.map((argv) => lab.lb.exec(argv)))).join('---\n');
  }

  beforeAll(async () => {
    lab = await Lab.create({ masters: 2, controlPlane: 'stand-in', password, bfd: 50 });
    before = await kernel();
    for (const path of ['run', 'var/lib/bgp-lb', 'etc/bgp-password', 'etc/router.yaml']) {
      chownSync(lab.lb.path(path), user, user);
    }
    router = lab.lb.spawn(
      'router',
      asUnit(process.execPath, program, 'run', '--config', lab.lb.router.configFile),
    );
    await startMaster(lab, lab.master(1));
    await startMaster(lab, lab.master(2));
    await lab.lb.waitForPool(addresses(lab.masters), 30_000);
  });
  afterAll(async () => {
    await lab?.destroy();
  });

  it('serves by NET_ADMIN, NET_BIND_SERVICE, NET_RAW and SYS_NICE alone', async () => {
    const status = readFileSync(`/proc/${router.pid}/status`, 'utf8');
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) {
      expect(status).toMatch(new RegExp(`^Cap${set}:\\s+${fourCapabilities}$`, 'm'));
    }
    expect(status).toMatch(new RegExp(`^Uid:\\s+${user}\\s+${user}\\s+${user}\\s+${user}$`, 'm'));
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    // Packets pass by nexthop group, nft and sysctls; MD5 and GTSM are those of the lab's sessions.
    expect(await lab.client.request()).toMatchObject({ ok: true });
    const { vips } = await lab.lb.router.status();
    expect(vips[0]?.members.map(({ session, bfd }) => [session, bfd])).toEqual([
      ['Established', 'Up'],
      ['Established', 'Up'],
    ]);
    expect(await lab.lb.exec(['nft', 'list', 'tables'])).toContain('table inet bgp_lb_router');
    expect((await lab.lb.exec(['sysctl', '-n', 'net.ipv4.conf.eth0.send_redirects'])).trim()).toBe('0');
    expect(await lab.lb.router.request('GET', '/api/v1/fib')).toMatchObject({ problems: [] });
    const threads = (): string[] =>
      readdirSync(`/proc/${router.pid}/task`).map((id) => {
        const stat = readFileSync(`/proc/${router.pid}/task/${id}/stat`, 'utf8');
        // proc_pid_stat(5): of the fields after the name, 41 is the policy; SCHED_FIFO is 1.
        const [name = '', fields = ''] = stat.slice(stat.indexOf('(') + 1).split(') ');
        return `${name} ${fields.split(' ')[38]}`;
      });
    await expect.poll(threads, { timeout: 30_000 }).toContain('bfd 1');
  });

  it('lets only its own user talk to its control socket', async () => {
    const { uid, mode } = statSync(lab.lb.router.socketPath);
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: user, mode: 0o600 });
    const query = [process.execPath, program, 'status', '--socket', lab.lb.router.socketPath];
    expect(await lab.lb.exec(asUnit(...query))).toContain('2 of 2 members healthy');
    const other = [
      ...reachable,
      'setpriv',
      '--reuid',
      `${user + 1}`,
      '--clear-groups',
      '--inh-caps',
      '-all',
      ...query,
    ];
    await expect(lab.lb.exec(other)).rejects.toThrow(/no permission for .*router\.sock/);
  });

  it('repairs what somebody takes away', async () => {
    await lab.lb.exec(['nft', 'delete', 'table', 'inet', 'bgp_lb_router']);
    await lab.lb.exec(['ip', 'route', 'del', vip, 'metric', '84']);
    await expect
      .poll(() => lab.lb.exec(['ip', 'route', 'show', vip]), { timeout: 10_000 })
      .toMatch(/nhid[\s\S]*unreachable/);
    await expect
      .poll(() => lab.lb.exec(['nft', 'list', 'tables']), { timeout: 10_000 })
      .toContain('inet bgp_lb_router');
  });

  describe.each(['router', 'speaker'] as const)('and no command of the %s', (name) => {
    const daemon = (): Daemon<unknown> => (name === 'router' ? lab.lb.router : lab.master(1).speaker);
    const folder = (): string => (name === 'router' ? lab.lb.folder : lab.master(1).folder);
    /** What commands are called with so that they do what they are for; others are called without anything. */
    const examples: Record<string, readonly string[]> = {
      neighbors: ['10.0.0.11'],
      explain: name === 'router' ? [vipAddress] : [],
      rebalance: ['10.0.0.11', '--no-wait'],
      reset: ['10.0.0.11'],
      drain: name === 'router' ? ['--wait', '0s'] : ['--no-wait'],
      wait: ['--timeout', '100ms'],
    };
    /** Those that take the configuration; the others take the control socket. */
    const configured = ['check-config', 'doctor', 'manifest', 'prepare', 'uninstall', 'wait'];
    /** `run` runs. User-data carries the password to its machine: that is what `cloud-init` prints. `import-haproxy` reads another's file alone. */
    const others = ['run', 'cloud-init', 'import-haproxy'];

    it('prints a password, nor does a log, an answer or a bundle', async () => {
      const { stdout: help } = await daemon().query(['--help']);
      const commands = [...help.matchAll(/^ +bgp-lb-\w+ ([\w-]+)/gm)].map(([, command]) => command ?? '');
      expect(commands).toEqual(
        expect.arrayContaining(['status', 'check-config', 'drain', 'undrain', 'reload']),
      );
      const said: string[] = [];
      for (const command of commands.filter((one) => !others.includes(one))) {
        const argv = [command, ...(examples[command] ?? [])];
        if (command === 'doctor' && name === 'router') argv.push('--bundle', `${folder()}/bundle.json`);
        const { code, stdout, stderr } = configured.includes(command)
          ? await daemon().command(argv)
          : await daemon().query(argv);
        // Wrong usage would show nothing.
        expect({ argv, code, stderr }).not.toMatchObject({ code: 2 });
        said.push(stdout, stderr);
      }
      for (const path of ['status', 'neighbors', 'routes', 'fib', 'events', 'drain']) {
        said.push(JSON.stringify(await daemon().request('GET', `/api/v1/${path}`).catch(String)));
      }
      said.push(readFileSync(`${folder()}/log/${name}.log`, 'utf8'));
      if (name === 'router') said.push(readFileSync(`${folder()}/bundle.json`, 'utf8'));
      // It says that there is one, and never which.
      expect(said.join('\n')).toContain('password');
      expect(said.filter((text) => text.includes(password))).toEqual([]);
      expect(said.filter((text) => text.includes(Buffer.from(password).toString('base64')))).toEqual([]);
    }, 240_000);
  });

  it('is taken out of the kernel by uninstall, settings included', async () => {
    expect((await lab.lb.router.command(['uninstall'])).stderr).toContain('another instance is running');
    expect(await lab.lb.pool()).not.toEqual([]);
    await router.stop();
    expect(await kernel()).not.toBe(before);
    const { code, stdout } = await lab.lb.router.command(['uninstall']);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('removed nft table') });
    expect(await kernel()).toBe(before);
  });
});
