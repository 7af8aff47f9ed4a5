/** The daemons of others, started in a namespace with the configuration that a benchmark gives them. */
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

/** A daemon that runs. */
export interface RunningDaemon {
  /** The process that does the work, and its children; the memory of its helpers is not counted. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** A daemon of others: it can be asked. */
export interface OtherDaemon extends RunningDaemon {
  /** What its control program prints; undefined when that fails. Rejects when the daemon has ended. */
  ask(...question: readonly string[]): Promise<string | undefined>;
}

interface Program {
  readonly program: string;
  readonly configFile: string;
  /** Beside the configuration. */
  readonly files?: Readonly<Record<string, string>>;
  /** What to start, in order; the last one does the work. */
  commands(folder: string): readonly (readonly string[])[];
  /** The control program, to which a question is appended. */
  control(folder: string): readonly string[];
  readonly user?: string;
}

const programs: Readonly<Record<OtherName, Program>> = {
  FRR: {
    program: '/usr/lib/frr/bgpd',
    user: 'frr',
    configFile: 'bgpd.conf',
    files: { 'zebra.conf': 'hostname bench\n' },
    commands: (folder) =>
      ['zebra', 'bgpd'].map((name) => [
        `/usr/lib/frr/${name}`,
        ...['-f', `${folder}/${name}.conf`, '-i', `${folder}/${name}.pid`, '-z', `${folder}/zserv.api`],
        ...['--vty_socket', folder, '-P', '0', '-u', 'frr', '-g', 'frr', '--log', 'stdout'],
        ...['--log-level', 'warnings'],
        // No routes to zebra: the kernel's table is not what is measured.
        ...(name === 'bgpd' ? ['-n'] : ['-s', '90000000']),
      ]),
    control: (folder) => ['vtysh', '--vty_socket', folder, '-d', 'bgpd', '-c'],
  },
  BIRD: {
    program: '/usr/sbin/bird',
    configFile: 'bird.conf',
    commands: (folder) => [['/usr/sbin/bird', '-f', '-c', `${folder}/bird.conf`, '-s', `${folder}/control`]],
    control: (folder) => ['birdc', '-s', `${folder}/control`],
  },
  GoBGP: {
    program: '/usr/bin/gobgpd',
    configFile: 'gobgp.toml',
    commands: (folder) => [
      ['/usr/bin/gobgpd', '-f', `${folder}/gobgp.toml`, '--api-hosts', '127.0.0.1:50051', '-l', 'warn'],
    ],
    control: () => ['gobgp'],
  },
  OpenBGPD: {
    program: '/usr/sbin/bgpd',
    configFile: 'bgpd.conf',
    commands: (folder) => [['/usr/sbin/bgpd', '-d', '-f', `${folder}/bgpd.conf`]],
    control: (folder) => ['bgpctl', '-s', `${folder}/bgpd.sock`],
  },
};

/** Those of the daemons that are installed; ours always is. */
export function installedOf<Name extends DaemonName>(names: readonly Name[]): Name[] {
  return names.filter((name) => name === 'bgp-lb' || existsSync(programs[name as OtherName].program));
}

/** Folders of daemons that run. */
const folders = new Set<string>();

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/**
 * Starts a daemon in a namespace; it listens a moment later.
 * @param config the text of its configuration, given the folder of its files
 */
export async function startDaemon(
  name: OtherName,
  namespace: NetworkNamespace,
  config: (folder: string) => string,
): Promise<OtherDaemon> {
  const { configFile, files, user, commands, control } = programs[name];
  const folder = mkdtempSync(`${tmpdir()}/bgp-lb-bench-`);
  folders.add(folder);
  // The chroot that OpenBGPD's Debian package leaves to its unit to make.
  if (name === 'OpenBGPD') mkdirSync('/run/openbgpd', { recursive: true });
  for (const [file, text] of Object.entries({ ...files, [configFile]: config(folder) })) {
    writeFileSync(`${folder}/${file}`, text, { mode: 0o600 });
  }
  if (user !== undefined) execFileSync('chown', ['-R', `${user}:${user}`, folder]);
  const launcher = ['ip', 'netns', 'exec', namespace.name];
  const children: Child[] = [];
  const argvs = commands(folder);
  for (const argv of argvs) {
    children.push(startChild(argv, launcher));
    // zebra makes its socket; bgpd tries once a second.
    if (argv !== argvs.at(-1)) await sleep(500);
  }
  return {
    get pids() {
      const last = children.at(-1);
      return last === undefined ? [] : familyOf(last.pid);
    },
    async ask(...question) {
      if (children.some(({ isRunning }) => !isRunning)) throw new Error(`${name} has ended`);
      const { code, stdout } = await tryCommand([...launcher, ...control(folder), ...question]);
      return code === 0 ? stdout : undefined;
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
