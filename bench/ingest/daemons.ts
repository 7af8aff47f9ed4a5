/** The daemons that take in a table: how each is started as a passive EBGP peer that sends nothing, and how many prefixes it has. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryCommand } from '../../scripts/lab/run-command.ts';
import type { NetworkNamespace } from '../../test/kit/network-namespace.ts';
import { type Child, startChild } from '../soak/child.ts';

/** Names of the daemons, ours first. */
export const daemonNames = ['bgp-lb', 'FRR', 'BIRD', 'GoBGP', 'OpenBGPD'] as const;
export type DaemonName = (typeof daemonNames)[number];
/** The daemons of others. */
export type OtherName = Exclude<DaemonName, 'bgp-lb'>;

/** Both ends of the session. */
export interface SessionPlan {
  readonly local: string;
  readonly localAsn: number;
  readonly remote: string;
  readonly remoteAsn: number;
  /** In seconds. */
  readonly holdTime: number;
}

/** A daemon that runs. */
export interface RunningDaemon {
  /** The process that holds the table; the memory of its helpers is not counted. */
  readonly pids: readonly number[];
  /** Prefixes that have passed best path selection. */
  count(): Promise<number>;
  stop(): Promise<void>;
}

interface Make {
  readonly program: string;
  /** Files of the folder. */
  config(plan: SessionPlan, folder: string): Readonly<Record<string, string>>;
  /** What to start, in order; the last one holds the table. */
  commands(folder: string): readonly (readonly string[])[];
  /** Asks for the number of prefixes. */
  readonly question: (folder: string) => readonly string[];
  read(answer: string): number;
  readonly user?: string;
}

const makes: Readonly<Record<OtherName, Make>> = {
  FRR: {
    program: '/usr/lib/frr/bgpd',
    user: 'frr',
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => ({
      'zebra.conf': 'hostname bench\n',
      'bgpd.conf': `hostname bench
router bgp ${localAsn}
 bgp router-id ${local}
 no bgp ebgp-requires-policy
 no bgp default ipv4-unicast
 neighbor ${remote} remote-as ${remoteAsn}
 neighbor ${remote} passive
 neighbor ${remote} timers ${holdTime / 3} ${holdTime}
 address-family ipv4 unicast
  neighbor ${remote} activate
  neighbor ${remote} route-map nothing out
 exit-address-family
route-map nothing deny 10
`,
    }),
    commands: (folder) =>
      ['zebra', 'bgpd'].map((name) => [
        `/usr/lib/frr/${name}`,
        ...['-f', `${folder}/${name}.conf`, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
        ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
        ...['--log-level', 'warnings'],
        // No routes to zebra: the kernel's table is not what is measured.
        ...(name === 'bgpd' ? ['-n'] : ['-s', '90000000']),
      ]),
    question: (folder) => [
      ...['vtysh', '--vty_socket', folder, '-d', 'bgpd', '-c'],
      'show bgp ipv4 unicast summary json',
    ],
    read: (answer) => {
      const parsed: {
        ribCount?: number;
        tableVersion?: number;
        peers?: Record<string, { pfxRcd?: number }>;
        ipv4Unicast?: object;
      } = JSON.parse(answer);
      const { ribCount = 0, tableVersion = 0, peers = {} } = { ...parsed, ...parsed.ipv4Unicast };
      const received = Object.values(peers).map(({ pfxRcd = 0 }) => pfxRcd);
      return Math.min(ribCount, tableVersion, ...received);
    },
  },
  BIRD: {
    program: '/usr/sbin/bird',
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => ({
      'bird.conf': `log stderr { warning, error, fatal, auth, bug };
router id ${local};
protocol device {}
protocol direct { ipv4; interface "v0"; }
protocol bgp feeder {
  local ${local} as ${localAsn};
  neighbor ${remote} as ${remoteAsn};
  passive on;
  hold time ${holdTime};
  keepalive time ${holdTime / 3};
  ipv4 { import all; export none; };
}
`,
    }),
    commands: (folder) => [['/usr/sbin/bird', '-f', '-c', `${folder}/bird.conf`, '-s', `${folder}/control`]],
    question: (folder) => ['birdc', '-s', `${folder}/control`, 'show route count'],
    // One of them is the link's own network.
    read: (answer) => Number(/for (\d+) networks/.exec(answer)?.[1] ?? 0) - 1,
  },
  GoBGP: {
    program: '/usr/bin/gobgpd',
    config: ({ local, localAsn, remote, remoteAsn, holdTime }) => ({
      'gobgp.toml': `[global.config]
as = ${localAsn}
router-id = "${local}"
[global.apply-policy.config]
default-export-policy = "reject-route"
[[neighbors]]
[neighbors.config]
neighbor-address = "${remote}"
peer-as = ${remoteAsn}
[neighbors.timers.config]
hold-time = ${holdTime}
keepalive-interval = ${holdTime / 3}
[neighbors.transport.config]
passive-mode = true
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv4-unicast"
`,
    }),
    commands: (folder) => [
      ['/usr/bin/gobgpd', '-f', `${folder}/gobgp.toml`, '--api-hosts', '127.0.0.1:50051', '-l', 'warn'],
    ],
    question: () => ['gobgp', 'global', 'rib', 'summary'],
    read: (answer) => Number(/Destination: (\d+)/.exec(answer)?.[1] ?? 0),
  },
  OpenBGPD: {
    program: '/usr/sbin/bgpd',
    config: ({ local, localAsn, remote, remoteAsn, holdTime }, folder) => ({
      'bgpd.conf': `AS ${localAsn}
router-id ${local}
listen on ${local}
socket "${folder}/bgpd.sock"
fib-update no
nexthop qualify via default
neighbor ${remote} {
  remote-as ${remoteAsn}
  passive
  holdtime ${holdTime}
  announce IPv4 unicast
}
allow from any
deny to any
`,
    }),
    commands: (folder) => [['/usr/sbin/bgpd', '-d', '-f', `${folder}/bgpd.conf`]],
    question: (folder) => ['bgpctl', '-s', `${folder}/bgpd.sock`, 'show', 'rib', 'mem'],
    read: (answer) => Number(/(\d+) IPv4 unicast network entries/.exec(answer)?.[1] ?? 0),
  },
};

/** True when the daemon is installed. */
export function hasDaemon(name: OtherName): boolean {
  return existsSync(makes[name].program);
}

/** Folders of daemons that run. */
const folders = new Set<string>();

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Starts a daemon in a namespace; it listens a moment later. */
export async function startDaemon(
  name: OtherName,
  namespace: NetworkNamespace,
  plan: SessionPlan,
): Promise<RunningDaemon> {
  const make = makes[name];
  const folder = mkdtempSync(`${tmpdir()}/bgp-lb-ingest-`);
  folders.add(folder);
  // The chroot that OpenBGPD's Debian package leaves to its unit to make.
  if (name === 'OpenBGPD') mkdirSync('/run/openbgpd', { recursive: true });
  for (const [file, text] of Object.entries(make.config(plan, folder))) {
    writeFileSync(`${folder}/${file}`, text, { mode: 0o600 });
  }
  if (make.user !== undefined) execFileSync('chown', ['-R', `${make.user}:${make.user}`, folder]);
  const launcher = ['ip', 'netns', 'exec', namespace.name];
  const children: Child[] = [];
  for (const command of make.commands(folder)) {
    children.push(startChild(command, launcher));
    // zebra makes its socket; bgpd tries once a second.
    if (command !== make.commands(folder).at(-1)) await sleep(500);
  }
  return {
    get pids() {
      const last = children.at(-1);
      return last === undefined ? [] : familyOf(last.pid);
    },
    async count() {
      if (children.some(({ isRunning }) => !isRunning)) throw new Error(`${name} has ended`);
      const { code, stdout } = await tryCommand([...launcher, ...make.question(folder)]);
      return code === 0 ? make.read(stdout) : 0;
    },
    async stop() {
      await Promise.all(children.map((child) => child.stop()));
      rmSync(folder, { recursive: true, force: true });
      folders.delete(folder);
    },
  };
}

/** A process and its children (proc_pid_task_children(5)): OpenBGPD is three processes. */
function familyOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))];
}
