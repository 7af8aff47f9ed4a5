/** Each daemon is run in its own view on a machine that has neither its user nor its folders: as if it had never run there. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { birdc, birdDaemon, birdView } from './bird.ts';
import { exabgpDaemon, exabgpView } from './exabgp.ts';
import { Frr, frrDaemon, frrView, vtysh, writeFrrConfig } from './frr.ts';
import { gobgp, gobgpArguments, gobgpView } from './gobgp.ts';
import { HostProcess } from './host-process.ts';
import { keepalivedDaemon, keepalivedView } from './keepalived.ts';
import { Lab } from './lab.ts';
import { createNamespace, deleteNamespace, ipBatch } from './network-namespace.ts';
import { bgpctl, openbgpdDaemon, openbgpdView } from './openbgpd.ts';
import { PrivateView } from './private-view.ts';
import { tryCommand } from './run-command.ts';
import { wg, wireguardDaemon, wireguardView } from './wireguard.ts';

/** Runs a command where `/run` and `/var/lib` are empty, and no user or group but root is known. */
const onBareMachine = (argv: readonly string[]): string[] => {
  const places = ['/run', '/var/lib', '/etc/frr', '/etc/bird', '/etc/exabgp'];
  const hide = places.map((place) => `if [ -d ${place} ]; then mount -t tmpfs tmpfs ${place}; fi`);
  const users = ['passwd', 'group'].map((file) => `mount --bind "$0/${file}" /etc/${file}`);
  return [
    'unshare',
    '--mount',
    'sh',
    '-e',
    '-c',
    [...users, ...hide, 'exec "$@"'].join('\n'),
    bareUsers,
    ...argv,
  ];
};
let bareUsers = '';

interface Made {
  readonly view: PrivateView;
  readonly start: readonly (readonly string[])[];
  /** A question, and what its answer has in it; without one the log has it. */
  readonly ask?: readonly string[];
  readonly says: string;
}

const makes: Readonly<Record<string, (folder: string) => Made>> = {
  FRR(folder) {
    const view = frrView(folder);
    const daemons = ['zebra', 'bfdd', 'bgpd'] as const;
    for (const daemon of daemons) writeFrrConfig(view, daemon, daemon === 'bgpd' ? ['router bgp 65001'] : []);
    const start = daemons.map((daemon) => frrDaemon(view, daemon));
    return { view, start, ask: vtysh(view, 'show daemons'), says: ' zebra bgpd bfdd' };
  },
  BIRD(folder) {
    const view = birdView(folder, ['router id 192.0.2.1;', 'protocol device {}']);
    return { view, start: [birdDaemon(view)], ask: birdc(view, 'show', 'status'), says: 'up and running' };
  },
  GoBGP(folder) {
    const view = gobgpView(folder, '[global.config]\n  as = 65001\n  router-id = "192.0.2.1"\n');
    return { view, start: [view.inside(gobgpArguments())], ask: gobgp(view, 'global'), says: '65001' };
  },
  OpenBGPD(folder) {
    const view = openbgpdView(folder, 'AS 65001\nrouter-id 192.0.2.1\nfib-update no\n');
    return { view, start: [openbgpdDaemon(view)], ask: bgpctl(view, 'show'), says: 'Neighbor' };
  },
  keepalived(folder) {
    const view = keepalivedView(folder);
    const instance = ['interface eth0', 'virtual_router_id 1', 'virtual_ipaddress {', '192.0.2.1/32', '}'];
    view.write('/etc/keepalived.conf', `vrrp_instance one {\n${instance.join('\n')}\n}\n`);
    const start = [keepalivedDaemon(view, '/etc/keepalived.conf', '/run')];
    return { view, start, says: 'Entering MASTER STATE' };
  },
  ExaBGP(folder) {
    const session = 'router-id 192.0.2.1; local-address 127.0.0.1; local-as 65001; peer-as 65001;';
    const view = exabgpView(folder, `neighbor 127.0.0.2 { ${session} }\n`);
    return { view, start: [exabgpDaemon(view, '127.0.0.1')], says: 'loaded new configuration successfully' };
  },
  WireGuard(folder) {
    const view = wireguardView(folder);
    return { view, start: [wireguardDaemon(view, 'wg0')], ask: wg(view, 'show'), says: 'interface: wg0' };
  },
};

describe('a daemon in a view of its own', () => {
  let folder: string;
  let namespace: string;
  const processes: HostProcess[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bgplb-view-'));
    bareUsers = new PrivateView(join(folder, 'bare'), { folders: [] }).outside('/etc');
    namespace = `bgplb-view-${process.pid}`;
    await createNamespace(namespace);
    await ipBatch(namespace, ['link set lo up', 'link add eth0 type veth peer name eth1']);
    await ipBatch(namespace, ['link set eth0 up', 'link set eth1 up', 'address add 192.0.2.2/24 dev eth0']);
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill()));
    await deleteNamespace(namespace);
    rmSync(folder, { recursive: true, force: true });
  });

  function start(argv: readonly string[], index: number): HostProcess {
    const options = { logFile: join(folder, `${index}.log`), cwd: folder };
    const started = new HostProcess(namespace, `daemon ${index}`, onBareMachine(argv), options);
    processes.push(started);
    return started;
  }

  it.each(Object.keys(makes))('%s starts and answers on a machine where it never ran', async (name) => {
    const made = makes[name]?.(join(folder, 'view'));
    if (made === undefined) throw new RangeError(name);
    const started = made.start.map(start);
    const { ask, says } = made;
    const answer = async (): Promise<string> => {
      if (ask === undefined) return started.map((one) => one.tail()).join('\n');
      const { stdout } = await tryCommand(['ip', 'netns', 'exec', namespace, ...onBareMachine(ask)]);
      return stdout;
    };
    await started[0]?.ready(async () => (await answer()).includes(says));
  });

  it('finds its users and folders, and has the machine as it is everywhere else', async () => {
    const view = new PrivateView(join(folder, 'view'), {
      users: [{ name: 'speaker', home: '/run/speaker', groups: ['control'] }],
      folders: [['/run/speaker', 'speaker']],
    });
    view.write('/etc/speaker.conf', 'x\n', { owner: 'speaker', mode: 0o600 });
    const script =
      'id -Gn speaker; stat -c "%U %a" /run/speaker /etc/speaker.conf; ls /run /var/lib; readlink /proc/1/exe';
    const seen = await tryCommand(view.inside(['sh', '-c', script]));
    const init = await tryCommand(['readlink', '/proc/1/exe']);
    expect(seen.stdout.split('\n')).toEqual([
      'speaker control',
      ...['speaker 755', 'speaker 600'],
      ...['/run:', 'speaker', '', '/var/lib:'],
      ...init.stdout.split('\n'),
    ]);
  });

  it('finds /run empty when it is made again, and the rest as it was', () => {
    const plan = { folders: [['/run/daemon', 'root']] } as const;
    const before = new PrivateView(join(folder, 'view'), plan);
    before.write('/run/daemon/socket', '');
    before.write('/var/lib/daemon/state', '');
    const after = new PrivateView(join(folder, 'view'), plan);
    expect([after.has('/run/daemon'), after.has('/run/daemon/socket')]).toEqual([true, false]);
    expect(after.has('/var/lib/daemon/state')).toBe(true);
  });
});

describe('a set-up that fails half way', () => {
  let lab: Lab;

  beforeEach(async () => {
    lab = await Lab.create({ masters: 1 });
  });
  afterEach(async () => {
    await lab?.destroy();
  });

  it('leaves no zebra behind where bgpd cannot be started', async () => {
    mkdirSync(lab.upstream.path('log/bgpd.log'));
    await expect(new Frr(lab.upstream).start([])).rejects.toThrow('EISDIR');
    expect(lab.upstream.processes.map(({ name, isRunning }) => [name, isRunning])).toEqual([
      ['zebra', false],
    ]);
  });

  it('starts nothing in a lab that is being removed', async () => {
    const removal = lab.destroy();
    expect(() => lab.upstream.spawn('late', ['sleep', '60'])).toThrow('upstream was removed');
    await removal;
  });
});
