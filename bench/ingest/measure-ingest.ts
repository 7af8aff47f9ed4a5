/** Ingest of a table by one peer: each daemon in turn, again and again, with the same octets. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { type Failure, TooSlow } from '../attempts.ts';
import { type DaemonName, installedOf } from '../bgp/daemon.ts';
import { peakMiB, processorTime } from '../bgp/process-family.ts';
import { type Turns, takeTurns } from '../bgp/take-turns.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { makeLink } from '../soak/link.ts';
import { round } from '../statistics.ts';
import { type CountingDaemon, type SessionPlan, startCountingDaemon } from './daemons.ts';
import type { Feeder, FeedFigures } from './programs/feeder.ts';
import type { OurSpeaker } from './programs/our-speaker.ts';

/** One table taken in by one daemon. */
export interface IngestRun {
  readonly daemon: DaemonName;
  readonly prefixes: number;
  /** Seconds from the first octet to all prefixes in the table. */
  readonly wall: number;
  /** Seconds of a processor meanwhile, all processes of the daemon. */
  readonly cpu: number;
  /** The most memory that the daemon has had, in MiB: the sum of its processes. */
  readonly peakMiB: number;
  /** The longest time between two KEEPALIVEs of the daemon meanwhile, in ms; a third of the hold time is due. */
  readonly longestGap: number;
  readonly feed: FeedFigures;
}

export interface IngestReport {
  readonly bench: 'ingest';
  readonly machine: Machine;
  readonly rounds: number;
  /** ms between KEEPALIVEs that the hold time asks for. */
  readonly keepaliveInterval: number;
  readonly runs: readonly IngestRun[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

export interface IngestOptions {
  readonly rounds: number;
  readonly sizes: readonly number[];
  readonly daemons: readonly DaemonName[];
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

const holdTime = 3;
const localAsn = 65000;
const remoteAsn = 65001;
/** Between two questions, in ms. A daemon that is asked often has less time for the table: before all is sent it cannot be done. */
const pauses = { feeding: 400, fed: 50 };
/** The longest wait, in ms. */
const patience = 180_000;

/** What a table of this size is called in failures and tables. */
export function ingestTask(prefixes: number): string {
  return `${prefixes.toLocaleString('en')} prefixes`;
}

/** Runs everything. */
export async function measureIngest(options: IngestOptions): Promise<IngestReport> {
  const { rounds, sizes, niceness, progress } = options;
  const daemons = installedOf(options.daemons);
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const turns: Turns<IngestRun>[] = [];
  for (const prefixes of sizes) {
    const measure = (daemon: DaemonName): Promise<IngestRun> => measureOne(daemon, prefixes);
    turns.push(await takeTurns({ rounds, daemons, what: ingestTask(prefixes), progress, measure }));
  }
  const runs = turns.flatMap((turn) => turn.runs);
  const failures = turns.flatMap((turn) => turn.failures);
  const tookMs = Math.round(performance.now() - since);
  const keepaliveInterval = (holdTime * 1000) / 3;
  return { bench: 'ingest', machine, rounds, keepaliveInterval, runs, failures, tookMs };
}

async function measureOne(name: DaemonName, prefixes: number): Promise<IngestRun> {
  const link = await makeLink('ingest', 1);
  let daemon: CountingDaemon | undefined;
  try {
    const [ends] = link.left.sessions;
    if (ends === undefined) throw new Error('the link has no session');
    const plan: SessionPlan = { ...ends, localAsn, remoteAsn, holdTime };
    daemon =
      name === 'bgp-lb'
        ? await startOurs(await link.left.namespace.start(ourSpeaker), plan)
        : await startCountingDaemon(name, link.left.namespace, plan);
    const feeder = await link.right.namespace.start<Feeder>(new URL('./programs/feeder.ts', import.meta.url));
    const { local, remote } = plan;
    await feeder.run((program, options) => program.open(options), {
      ...{ local: remote, remote: local, asn: remoteAsn, holdTime, prefixes },
    });
    return { daemon: name, prefixes, ...(await measureFeed(daemon, feeder, prefixes)) };
  } finally {
    await daemon?.stop();
    await link.remove();
  }
}

const ourSpeaker = new URL('./programs/our-speaker.ts', import.meta.url);

async function startOurs(speaker: NamespaceProcess<OurSpeaker>, plan: SessionPlan): Promise<CountingDaemon> {
  const { local, remote } = plan;
  await speaker.run((program, options) => program.open(options), {
    ...{ local, remote, asn: localAsn, remoteAsn, holdTime },
  });
  return {
    pids: [speaker.pid],
    count: () => speaker.run((program) => program.count()),
    stop: () => speaker.stop(),
  };
}

async function measureFeed(
  daemon: CountingDaemon,
  feeder: NamespaceProcess<Feeder>,
  prefixes: number,
): Promise<Omit<IngestRun, 'daemon' | 'prefixes'>> {
  const { pids } = daemon;
  const before = processorTime(pids);
  const since = performance.now();
  const feed = feeder.run((program) => program.feed());
  const fed = feed.then(() => true);
  let isFed = false;
  while ((await daemon.count()) < prefixes) {
    if (performance.now() - since > patience) throw new TooSlow(patience / 1000);
    isFed = isFed ? await sleep(pauses.fed, true) : await Promise.race([fed, sleep(pauses.feeding, false)]);
  }
  const wall = (performance.now() - since) / 1000;
  const cpu = processorTime(pids) - before;
  const gaps = await feeder.run((program) => program.keepaliveGaps());
  return {
    wall: round(wall, 3),
    cpu: round(cpu, 2),
    peakMiB: round(peakMiB(pids), 1),
    longestGap: round(Math.max(0, ...gaps), 1),
    feed: await feed,
  };
}
