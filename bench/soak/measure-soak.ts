/** The soak of failure detection: BFD sessions that nothing is wrong with, on a machine that has too much to do. */
import { setTimeout as sleep } from 'node:timers/promises';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { usageAtRest } from '../lb/process-usage.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { round } from '../statistics.ts';
import { startChild } from './child.ts';
import { hasDaemon, startDaemonPair } from './pairs/daemon-pair.ts';
import { type OurPair, startOurPair } from './pairs/our-pair.ts';
import { detectionTime, type Pair, type PairName, type PairOptions, pairNames } from './pairs/pair.ts';
import type { Lateness } from './programs/sleep-loop.ts';
import type { LoadFigures } from './programs/table-load.ts';

type SleepLoop = typeof import('./programs/sleep-loop.ts');

/** What is measured. */
export interface SoakOptions extends PairOptions {
  readonly minutes: number;
  readonly progress: (line: string) => void;
}

/** What one implementation did. */
interface SoakResult {
  readonly name: PairName;
  readonly scheduling: string;
  /** How often an end of a session left Up while nothing was wrong. One failure is told of by both ends. */
  readonly falseAlarms: number;
  /** What the stall made on purpose before the soak was counted as: proof that the count can be other than 0. */
  readonly alarmsOfProof: number;
}

/** A control process. */
interface ControlResult extends Lateness {
  readonly scheduling: string;
}

/** Processor time of one end in percent of a core, at rest. */
interface RestResult {
  readonly name: PairName;
  readonly sessions: number;
  readonly interval: number;
  readonly cpuPercent: number;
}

/** The report. */
export interface SoakReport {
  readonly soak: 'bfd';
  readonly machine: Machine;
  readonly minutes: number;
  readonly sessions: number;
  readonly interval: number;
  readonly results: readonly SoakResult[];
  readonly averted: number;
  readonly load: LoadFigures;
  readonly controls: readonly ControlResult[];
  /** A sleep that ended so late would have been an alarm: the Detection Time less one interval, in ms. */
  readonly limit: number;
  readonly rest: readonly RestResult[];
}

const hogCount = 2;
/** ms for sessions to agree on their intervals, and for code to become warm. */
const settle = 4_000;
const restSeconds = 10;
const minute = 60_000;

/** Runs everything: the processor time at rest first, then the soak. */
export async function measureSoak(options: SoakOptions): Promise<SoakReport> {
  const machine = await describeMachine(0);
  const { sessions, interval, minutes } = options;
  const rest = await measureRest(options);
  return { soak: 'bfd', machine, minutes, sessions, interval, ...(await soak(options)), rest };
}

function startPair(name: PairName, options: PairOptions): Promise<Pair> {
  return name === 'bgp-lb' ? startOurPair(options) : startDaemonPair(name, options);
}

const installed = (): PairName[] => pairNames.filter((name) => name === 'bgp-lb' || hasDaemon(name));

async function measureRest(options: SoakOptions): Promise<RestResult[]> {
  const results: RestResult[] = [];
  for (const interval of new Set([options.interval, 300])) {
    for (const sessions of new Set([1, options.sessions])) {
      for (const name of installed()) {
        options.progress(`at rest: ${name}, ${sessions} sessions at ${interval} ms`);
        const pair = await startPair(name, { ...options, sessions, interval });
        try {
          await pair.allUp();
          await sleep(settle);
          const [usage] = await usageAtRest({ [name]: pair.pid }, restSeconds);
          results.push({ name, sessions, interval, cpuPercent: usage?.cpuPercent ?? Number.NaN });
        } finally {
          await pair.stop();
        }
      }
    }
  }
  return results;
}

type SoakFigures = Pick<SoakReport, 'results' | 'averted' | 'load' | 'controls' | 'limit'>;

async function soak(options: SoakOptions): Promise<SoakFigures> {
  const { progress } = options;
  const running: { stop(): Promise<void> }[] = [];
  try {
    progress('starting all sessions');
    const ours = await startOurPair(options);
    running.push(ours);
    const pairs: Pair[] = [ours];
    for (const name of ['FRR', 'BIRD'] as const) {
      if (!hasDaemon(name)) continue;
      const pair = await startDaemonPair(name, options);
      running.push(pair);
      pairs.push(pair);
    }
    await Promise.all(pairs.map((pair) => pair.allUp()));
    await sleep(settle);
    const proofs = new Map<PairName, number>();
    for (const pair of pairs) proofs.set(pair.name, await stallOnPurpose(pair, options));
    const limit = detectionTime(options) - options.interval;
    const controls = await startControls(limit);
    running.push(...controls.map(({ process }) => process));
    for (let n = 0; n < hogCount; n += 1) {
      const hog = startChild(['sh', '-c', 'while :; do :; done']);
      running.push(hog);
    }
    await ours.setLoad(true);
    return await count(options, ours, pairs, proofs, controls, limit);
  } finally {
    await Promise.all(running.map((each) => each.stop()));
  }
}

/** Stops one end for longer than the Detection Time. Resolves with the alarms of that, when all sessions are up again. */
async function stallOnPurpose(pair: Pair, options: PairOptions): Promise<number> {
  const before = await pair.alarms();
  process.kill(pair.pid, 'SIGSTOP');
  await sleep(2 * detectionTime(options) + 200);
  process.kill(pair.pid, 'SIGCONT');
  // Outside Up sessions are slow: the last one needs some seconds.
  await sleep(settle);
  await pair.allUp();
  const counted = (await pair.alarms()) - before;
  if (counted < options.sessions) {
    throw new Error(`${pair.name}: a stall of all ${options.sessions} sessions counted as ${counted} alarms`);
  }
  return counted;
}

interface Control {
  readonly scheduling: string;
  readonly process: NamespaceProcess<SleepLoop>;
}

async function startControls(limit: number): Promise<Control[]> {
  const controls: Control[] = [];
  for (const [scheduling, launcher] of [
    ['ordinary', ['nice', '-n', '0']],
    ['SCHED_FIFO 10', ['chrt', '-f', '10']],
  ] as const) {
    const url = new URL('./programs/sleep-loop.ts', import.meta.url);
    const process = await NamespaceProcess.start<SleepLoop>(launcher, url);
    await process.run((loop, late) => loop.begin(late), limit);
    controls.push({ scheduling, process });
  }
  return controls;
}

async function count(
  options: SoakOptions,
  ours: OurPair,
  pairs: readonly Pair[],
  proofs: ReadonlyMap<PairName, number>,
  controls: readonly Control[],
  limit: number,
): Promise<SoakFigures> {
  const alarmsNow = () => Promise.all(pairs.map((pair) => pair.alarms()));
  const [before, avertedBefore] = await Promise.all([alarmsNow(), ours.averted()]);
  const end = performance.now() + options.minutes * minute;
  let alarms = before;
  while (performance.now() < end) {
    await sleep(Math.min(minute, end - performance.now()));
    alarms = await alarmsNow();
    const texts = pairs.map(({ name }, n) => `${name} ${(alarms[n] ?? 0) - (before[n] ?? 0)}`);
    options.progress(`false alarms so far: ${texts.join(', ')}`);
  }
  return {
    results: pairs.map(({ name, scheduling }, n) => ({
      name,
      scheduling,
      falseAlarms: (alarms[n] ?? 0) - (before[n] ?? 0),
      alarmsOfProof: proofs.get(name) ?? 0,
    })),
    averted: (await ours.averted()) - avertedBefore,
    load: await ours.load(),
    controls: await Promise.all(
      controls.map(async ({ scheduling, process }) => {
        const seen = await process.run((loop) => loop.lateness());
        return { scheduling, ...seen, greatest: seen.greatest.map((late) => round(late, 1)) };
      }),
    ),
    limit,
  };
}
