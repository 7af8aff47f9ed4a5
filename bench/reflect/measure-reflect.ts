/** Reflection of a table from one client to the others: each daemon in turn, again and again, with the same octets. */
import type { NetworkNamespace } from '../../test/kit/network-namespace.ts';
import { type Failure, TooSlow } from '../attempts.ts';
import { type DaemonName, installedOf, type RunningDaemon, startDaemon } from '../bgp/daemon.ts';
import { peakMiB, processorTime } from '../bgp/process-family.ts';
import { takeTurns } from '../bgp/take-turns.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { makeLink } from '../soak/link.ts';
import { round } from '../statistics.ts';
import { configs, type ReflectPlan } from './daemons.ts';
import type { Clients } from './programs/clients.ts';
import type { OurReflector } from './programs/our-reflector.ts';

/** One table reflected by one daemon. */
interface ReflectRun {
  readonly daemon: DaemonName;
  /** Seconds from the first octet to the last prefix at the last client. */
  readonly wall: number;
  /** The same for the client that had all of them first. */
  readonly firstClient: number;
  /** Seconds of a processor meanwhile, all processes of the daemon. */
  readonly cpu: number;
  /** The most memory that the daemon has had, in MiB: the sum of its processes. */
  readonly peakMiB: number;
  /** UPDATEs that one client was sent, on average. */
  readonly updates: number;
}

export interface ReflectReport {
  readonly bench: 'reflect';
  readonly machine: Machine;
  readonly rounds: number;
  readonly prefixes: number;
  readonly receivers: number;
  readonly sentUpdates: number;
  readonly runs: readonly ReflectRun[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

const asn = 65000;
const holdTime = 90;
const receivers = 9;
/** The longest wait, in ms. */
const patience = 60_000;

/** What this is called in failures and tables. */
export function reflectTask({ prefixes }: { readonly prefixes: number }): string {
  return `${prefixes.toLocaleString('en')} prefixes to ${receivers}`;
}

/** Runs everything. */
export async function measureReflect(options: {
  readonly rounds: number;
  readonly prefixes: number;
  readonly daemons: readonly DaemonName[];
  readonly niceness: number;
  readonly progress: (line: string) => void;
}): Promise<ReflectReport> {
  const { rounds, prefixes, niceness, progress } = options;
  const daemons = installedOf(options.daemons);
  const since = performance.now();
  const machine = await describeMachine(niceness);
  let sentUpdates = 0;
  const { runs, failures } = await takeTurns({
    rounds,
    daemons,
    what: reflectTask({ prefixes }),
    progress,
    measure: async (daemon) => {
      const measured = await measureOne(daemon, prefixes);
      sentUpdates = measured.sentUpdates;
      return measured.run;
    },
  });
  const tookMs = Math.round(performance.now() - since);
  return {
    bench: 'reflect',
    ...{ machine, rounds, prefixes, receivers, sentUpdates, runs, failures, tookMs },
  };
}

async function measureOne(
  name: DaemonName,
  prefixes: number,
): Promise<{ readonly run: ReflectRun; readonly sentUpdates: number }> {
  const link = await makeLink('reflect', receivers + 1);
  let daemon: RunningDaemon | undefined;
  try {
    const local = link.left.sessions[0]?.local ?? '';
    const clients = link.right.sessions.map((session) => session.local);
    const plan: ReflectPlan = { local, asn, clients, holdTime };
    daemon = await start(name, link.left.namespace, plan);
    const right = await link.right.namespace.start<Clients>(
      new URL('./programs/clients.ts', import.meta.url),
    );
    await right.run((program, given) => program.open(given), {
      ...{ reflector: local, asn, holdTime, prefixes, clients },
    });
    // Only now: OpenBGPD's processes start one after another.
    const { pids } = daemon;
    const before = processorTime(pids);
    const figures = await right.run((program, given) => program.reflect(given), { patience });
    if (figures === undefined) throw new TooSlow(patience / 1000);
    const run: ReflectRun = {
      daemon: name,
      wall: round(figures.lastMs / 1000, 3),
      firstClient: round(figures.firstMs / 1000, 3),
      cpu: round(processorTime(pids) - before, 2),
      peakMiB: round(peakMiB(pids), 1),
      updates: Math.round(figures.updates),
    };
    return { run, sentUpdates: figures.sentUpdates };
  } finally {
    await daemon?.stop();
    await link.remove();
  }
}

async function start(
  name: DaemonName,
  namespace: NetworkNamespace,
  plan: ReflectPlan,
): Promise<RunningDaemon> {
  if (name !== 'bgp-lb') return startDaemon(name, namespace, configs[name](plan));
  const ours = await namespace.start<OurReflector>(new URL('./programs/our-reflector.ts', import.meta.url));
  await ours.run((program, given) => program.open(given), plan);
  return { pids: [ours.pid], stop: () => ours.stop() };
}
