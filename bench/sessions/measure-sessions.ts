/** Many sessions of dynamic neighbors that come at once: how soon they are established, and what they cost at rest. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { NetworkNamespace } from '../../test/kit/network-namespace.ts';
import { type Failure, TooSlow } from '../attempts.ts';
import { type DaemonName, installedOf, type RunningDaemon, startDaemon } from '../bgp/daemon.ts';
import { peakMiB, processorTime, residentMiB } from '../bgp/process-family.ts';
import { type Turns, takeTurns } from '../bgp/take-turns.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { makeLink } from '../soak/link.ts';
import { round, summarize } from '../statistics.ts';
import { configs, type SessionsPlan } from './daemons.ts';
import type { OurRange } from './programs/our-range.ts';
import type { Peers } from './programs/peers.ts';

/** The sessions of one daemon. */
export interface SessionsRun {
  readonly daemon: DaemonName;
  /** In seconds. */
  readonly holdTime: number;
  /** Seconds from the first SYN to half of the sessions, and to the last of them, Established. */
  readonly half: number;
  readonly all: number;
  /** Seconds of a processor until then, all processes of the daemon. */
  readonly cpu: number;
  /** In MiB: the most there was, and after the time of rest. */
  readonly peakMiB: number;
  readonly restMiB: number;
  /** How long they rested, in seconds, and percent of a core meanwhile. */
  readonly rest: number;
  readonly restPercent: number;
}

export interface SessionsReport {
  readonly bench: 'sessions';
  readonly machine: Machine;
  readonly rounds: number;
  readonly sessions: number;
  readonly runs: readonly SessionsRun[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

const asn = 65000;
/** In seconds: what RFC 4271 section 10 suggests, and what our router and speaker have between them. */
const holdTimes = [90, 9] as const;
/** In seconds: as long as the longest wait between two KEEPALIVEs, so that each session has sent one, and 10 at least. */
const restOf = (holdTime: number): number => Math.max(10, holdTime / 3);
/** The longest wait, in ms: twenty times as long as the fastest need, and longer than four SYNs wait that are lost one after another. */
const patience = 30_000;
/** A /16 for the peers; the link's own network is another. */
const range = '10.8.0.0/16';
/** The most sessions: what fits the addresses. */
export const mostSessions = 60_000;

/** What this is called in failures and tables. */
export function sessionsTask(sessions: number, holdTime: number): string {
  return `${sessions.toLocaleString('en')} sessions, hold time ${holdTime} s`;
}

/** Runs everything. */
export async function measureSessions(options: {
  readonly rounds: number;
  readonly sessions: number;
  readonly daemons: readonly DaemonName[];
  readonly niceness: number;
  readonly progress: (line: string) => void;
}): Promise<SessionsReport> {
  const { rounds, sessions, niceness, progress } = options;
  const daemons = installedOf(options.daemons);
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const turns: Turns<SessionsRun>[] = [];
  for (const holdTime of holdTimes) {
    const what = sessionsTask(sessions, holdTime);
    const measure = (daemon: DaemonName): Promise<SessionsRun> => measureOne(daemon, sessions, holdTime);
    turns.push(await takeTurns({ rounds, daemons, what, progress, measure }));
  }
  return {
    ...{ bench: 'sessions', machine, rounds, sessions },
    runs: turns.flatMap((turn) => turn.runs),
    failures: turns.flatMap((turn) => turn.failures),
    tookMs: Math.round(performance.now() - since),
  };
}

async function measureOne(name: DaemonName, sessions: number, holdTime: number): Promise<SessionsRun> {
  const link = await makeLink('sessions', 1);
  let daemon: RunningDaemon | undefined;
  try {
    const { local = '', remote = '' } = link.left.sessions[0] ?? {};
    // All addresses of the range are the peers' own, without one command for each.
    link.right.namespace.execute('ip', 'route', 'add', 'local', range, 'dev', 'lo');
    link.left.namespace.execute('ip', 'route', 'add', range, 'via', remote);
    const plan: SessionsPlan = { local, asn, range, sessions, holdTime };
    daemon = await start(name, link.left.namespace, plan);
    const peers = await link.right.namespace.start<Peers>(new URL('./programs/peers.ts', import.meta.url));
    const addresses = Array.from({ length: sessions }, (_, n) => `10.8.${(n + 1) >> 8}.${(n + 1) & 255}`);
    return {
      daemon: name,
      holdTime,
      ...(await measurePeers(daemon, peers, { ...plan, daemon: local, addresses })),
    };
  } finally {
    await daemon?.stop();
    await link.remove();
  }
}

type PeersProcess = Awaited<ReturnType<typeof NetworkNamespace.prototype.start<Peers>>>;

async function measurePeers(
  running: RunningDaemon,
  peers: PeersProcess,
  {
    daemon,
    holdTime,
    addresses,
  }: Omit<SessionsPlan, 'local'> & { daemon: string; addresses: readonly string[] },
): Promise<Omit<SessionsRun, 'daemon' | 'holdTime'>> {
  const options = { daemon, asn, holdTime, addresses };
  await peers.run((program, given) => program.openFirst(given), options);
  // Only now: OpenBGPD's processes start one after another.
  const { pids } = running;
  const before = processorTime(pids);
  const times = await Promise.race([
    peers.run((program, given) => program.openOthers(given), options),
    sleep(patience),
  ]);
  if (times === undefined) throw new TooSlow(patience / 1000);
  const cpu = processorTime(pids) - before;
  // What the beginning left is settled: memory given back, and every session has had its first KEEPALIVEs.
  await sleep(5_000);
  const calm = processorTime(pids);
  const since = performance.now();
  const rest = restOf(holdTime);
  await sleep(rest * 1000);
  const restPercent = ((processorTime(pids) - calm) / ((performance.now() - since) / 1000)) * 100;
  const { count, failure } = await peers.run((program) => program.lasting());
  if (count < addresses.length) throw new Error(`${count} of ${addresses.length} sessions last: ${failure}`);
  return {
    half: round((summarize(times)?.p50 ?? Number.NaN) / 1000, 3),
    all: round(Math.max(...times) / 1000, 3),
    cpu: round(cpu, 2),
    peakMiB: round(peakMiB(pids), 1),
    restMiB: round(residentMiB(pids), 1),
    rest,
    restPercent: round(restPercent, 2),
  };
}

async function start(
  name: DaemonName,
  namespace: NetworkNamespace,
  plan: SessionsPlan,
): Promise<RunningDaemon> {
  if (name !== 'bgp-lb') return startDaemon(name, namespace, configs[name](plan));
  const ours = await namespace.start<OurRange>(new URL('./programs/our-range.ts', import.meta.url));
  await ours.run((program, given) => program.open(given), plan);
  return { pids: [ours.pid], stop: () => ours.stop() };
}
