/** The daemons of others, started in a namespace with the configuration that a benchmark gives them. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { birdc, birdDaemon, birdView, hasBird } from '../../scripts/lab/bird.ts';
import { frrDaemon, frrView, hasFrr, vtysh, writeFrrConfig } from '../../scripts/lab/frr.ts';
import { gobgp, gobgpArguments, gobgpProgram, gobgpView } from '../../scripts/lab/gobgp.ts';
import { bgpctl, openbgpdDaemon, openbgpdProgram, openbgpdView } from '../../scripts/lab/openbgpd.ts';
import type { PrivateView } from '../../scripts/lab/private-view.ts';
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
  readonly isInstalled: () => boolean;
  view(folder: string, config: string): PrivateView;
  /** What to start, in order; the last one does the work. */
  commands(view: PrivateView): readonly (readonly string[])[];
  /** Puts a question to the control program. */
  ask(view: PrivateView, question: readonly string[]): readonly string[];
}

const programs: Readonly<Record<OtherName, Program>> = {
  FRR: {
    isInstalled: hasFrr,
    view(folder, config) {
      const view = frrView(folder);
      writeFrrConfig(view, 'zebra', ['hostname bench']);
      writeFrrConfig(view, 'bgpd', [config]);
      return view;
    },
    commands: (view) => [
      frrDaemon(view, 'zebra', ['--log-level', 'warnings', '-s', '90000000']),
      // No routes to zebra: the kernel's table is not what is measured.
      frrDaemon(view, 'bgpd', ['--log-level', 'warnings', '-n']),
    ],
    ask: (view, question) => vtysh(view, ...question),
  },
  BIRD: {
    isInstalled: hasBird,
    view: (folder, config) => birdView(folder, [config]),
    commands: (view) => [birdDaemon(view)],
    ask: (view, question) => birdc(view, ...question),
  },
  GoBGP: {
    isInstalled: () => existsSync(gobgpProgram),
    view: gobgpView,
    commands: (view) => [view.inside(gobgpArguments(['-l', 'warn']))],
    ask: (view, question) => gobgp(view, ...question),
  },
  OpenBGPD: {
    isInstalled: () => existsSync(openbgpdProgram),
    view: openbgpdView,
    commands: (view) => [openbgpdDaemon(view)],
    ask: (view, question) => bgpctl(view, ...question),
  },
};

/** Those of the daemons that are installed; ours always is. */
export function installedOf<Name extends DaemonName>(names: readonly Name[]): Name[] {
  return names.filter((name) => name === 'bgp-lb' || programs[name as OtherName].isInstalled());
}

/** Folders of daemons that run. */
const folders = new Set<string>();

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Starts a daemon in a namespace with a configuration; it listens a moment later. */
export async function startDaemon(
  name: OtherName,
  namespace: NetworkNamespace,
  config: string,
): Promise<OtherDaemon> {
  const { view: viewOf, commands, ask } = programs[name];
  const folder = mkdtempSync(`${tmpdir()}/bgp-lb-bench-`);
  folders.add(folder);
  const view = viewOf(folder, config);
  const launcher = ['ip', 'netns', 'exec', namespace.name];
  const children: Child[] = [];
  const argvs = commands(view);
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
      const { code, stdout } = await tryCommand([...launcher, ...ask(view, question)]);
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
