/** From the octets of a BGP message to the kernel's notification of what it led to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import type { BenchLab, BenchMaster, Running } from './bench-lab.ts';
import type { DaemonName } from './daemons/load-balancer.ts';
import type { Wanted } from './programs/watcher.ts';

/** What is measured. */
export const latencyKinds = ['lesser', 'full', 'withdraw', 'appear', 'cease'] as const;

/** A kind of measurement. */
export type LatencyKind = (typeof latencyKinds)[number];

/** Milliseconds, by kind. A message that led to nothing within the patience is counted as missed. */
export interface LatencySamples {
  readonly took: Record<LatencyKind, number[]>;
  missed: number;
}

/** No samples yet. */
export function noSamples(): LatencySamples {
  return { took: { lesser: [], full: [], withdraw: [], appear: [], cease: [] }, missed: 0 };
}

/** The pool while UPDATEs are timed. */
const poolSize = 3;
const weightChanges = 16;
const warmUpChanges = 2;
const withdrawals = 15;
/** The longest that one message may take to reach the kernel. */
const patience = 5_000;
/** The least time between two messages. */
const leastPause = 60;
/** Between two messages, so that every daemon's work after the first is done; random, to meet its timers at any phase. */
const pause = (): Promise<void> => sleep(leastPause * (1 + Math.random()));

/**
 * From the message that asks for less to the one that takes it back. Our router gives a full share back only a second
 * after less was asked for: sooner, its pause would be measured. All daemons get the same messages at the same times.
 */
const pauseAtLess = 1_000;

interface Message {
  readonly kind: LatencyKind;
  readonly wanted: Wanted;
  readonly send: (master: BenchMaster) => Promise<bigint>;
}

const messages: Record<LatencyKind, Message> = {
  lesser: {
    kind: 'lesser',
    wanted: 'lesser',
    send: ({ program }) => program.run((m) => m.update('lesser')),
  },
  full: { kind: 'full', wanted: 'full', send: ({ program }) => program.run((m) => m.update('full')) },
  withdraw: {
    kind: 'withdraw',
    wanted: 'absent',
    send: ({ program }) => program.run((m) => m.update('none')),
  },
  appear: { kind: 'appear', wanted: 'full', send: ({ program }) => program.run((m) => m.update('full')) },
  cease: { kind: 'cease', wanted: 'absent', send: ({ program }) => program.run((m) => m.cease()) },
};

/** Measures one daemon once through and adds to its samples. */
export async function measureLatency(
  bench: BenchLab,
  daemon: DaemonName,
  samples: LatencySamples,
): Promise<void> {
  // A new daemon for the sessions that end: it remembers no earlier failures of a neighbor.
  await bench.running(bench.balancer(daemon), poolSize, async (running) => {
    const victim = lastOf(running.masters);
    // The first times are those of code that never ran; they are in no figure of any daemon.
    await changeWeight(running, victim, warmUpChanges, noSamples());
    await changeWeight(running, victim, weightChanges, samples);
    for (let n = 0; n < withdrawals; n += 1) {
      await timed(running, victim, 'withdraw', samples);
      await timed(running, victim, 'appear', samples);
    }
    await measureCease(bench, running, victim, samples);
  });
}

/** Each master beyond the first two joins and ends its session once: who fails often is damped (RFC 4271 section 8.1.1). */
async function measureCease(
  bench: BenchLab,
  running: Running,
  firstVictim: BenchMaster,
  samples: LatencySamples,
): Promise<void> {
  const others = running.masters.slice(0, -1);
  await timed(running, firstVictim, 'cease', samples);
  for (const victim of bench.masters.slice(poolSize)) {
    await victim.program.run((m) => m.join());
    await running.waitForMembers([...others, victim]);
    await pause();
    await timed(running, victim, 'cease', samples);
  }
}

async function changeWeight(
  running: Running,
  victim: BenchMaster,
  times: number,
  samples: LatencySamples,
): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    await timed(running, victim, 'lesser', samples);
    await sleep(pauseAtLess);
    await timed(running, victim, 'full', samples);
  }
}

async function timed(
  { watcher }: Running,
  master: BenchMaster,
  kind: LatencyKind,
  samples: LatencySamples,
): Promise<void> {
  const { wanted, send } = messages[kind];
  const since = await send(master);
  const query = { since, gateway: master.host.address, wanted, timeout: patience };
  const at = await watcher.run((w, q) => w.firstSince(q), query);
  if (at === undefined) samples.missed += 1;
  else samples.took[kind].push(Number(at - since) / 1e6);
  await pause();
}

function lastOf(masters: readonly BenchMaster[]): BenchMaster {
  const last = masters.at(-1);
  if (last === undefined) throw new RangeError('no masters');
  return last;
}

/** Milliseconds that the kernel takes for a change of weight in a resilient group of so many buckets, without a daemon. */
export async function measureKernelAlone(bench: BenchLab, buckets: number, times: number): Promise<number[]> {
  await bench.freshLoadBalancer();
  const replacer =
    await bench.startOnLoadBalancer<typeof import('./programs/group-replacer.ts')>('group-replacer');
  try {
    return await replacer.run((r, options) => r.replaceGroup(options), {
      gateways: bench.masters.slice(0, poolSize).map(({ host }) => host.address),
      device: 'eth0',
      buckets,
      destination: `${vipAddress}/32`,
      times,
      pause: leastPause,
    });
  } finally {
    await replacer.stop();
  }
}
