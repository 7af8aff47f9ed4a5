/** The whole benchmark of the load balancer's job: each daemon in turn, again and again, on the same machines. */
import { Attempts, type Failure } from '../attempts.ts';
import { installedOf } from '../bgp/daemon.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { type Sampled, sampled } from '../statistics.ts';
import { BenchLab } from './bench-lab.ts';
import { type DaemonName, daemonNames } from './daemons/load-balancer.ts';
import {
  type LatencyKind,
  type LatencySamples,
  latencyKinds,
  measureKernelAlone,
  measureLatency,
  noSamples,
} from './latency.ts';
import { type ManyKind, manyKinds, measureMany, noManySamples } from './many.ts';
import { type AtRest, measureRest, measureSpeaker, measureStarts } from './resources.ts';
import { echoSources, measureRestarts, type RestartRun } from './restarts.ts';
import { measureSurvivors, type SurvivorRun } from './survivors.ts';

/** Times in milliseconds. */
interface LatencyResult extends Sampled {
  readonly kind: LatencyKind;
  readonly daemon: DaemonName;
}

/** From a change of sixteen VIPs with sixteen members each to the last object, in milliseconds. */
interface ManyResult extends Sampled {
  readonly kind: ManyKind;
}

interface KernelResult extends Sampled {
  readonly buckets: number;
}

/** Milliseconds from the start of a process to its control socket. */
interface StartResult extends Sampled {
  readonly daemon: AtRest['daemon'];
}

/** What one run found. */
interface LbResults {
  readonly latency: readonly LatencyResult[];
  /** One replacement of a resilient group by a bare request, in milliseconds. */
  readonly kernelAlone: readonly KernelResult[];
  /** Messages that the kernel did not follow within five seconds; they are in no summary. */
  readonly missed: Readonly<Partial<Record<DaemonName, number>>>;
  readonly many: readonly ManyResult[];
  readonly survivors: readonly SurvivorRun[];
  readonly restarts: readonly RestartRun[];
  readonly atRest: readonly AtRest[];
  readonly starts: readonly StartResult[];
  readonly failures: readonly Failure[];
}

/** The report: the results, on what, and how much of it. */
export interface LbReport extends LbResults {
  readonly bench: 'lb';
  readonly machine: Machine;
  readonly rounds: number;
  readonly tookMs: number;
}

/** How much is measured. */
export interface LbOptions {
  /** Latency rounds; starts and, with every three, survivors grow with them. */
  readonly rounds: number;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

/** A cheaper one, our default, and what that was before. */
const bucketCounts = [1024, 4096, 16_384];
const replacementsPerRound = 20;
const poolSizes = [3, 5, 16];
const mostMasters = 16;
const startsPerRound = 3;

/** Runs everything. */
export async function measureLb({ rounds, niceness, progress }: LbOptions): Promise<LbReport> {
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const daemons = installedOf(daemonNames);
  const bench = await BenchLab.create(mostMasters);
  try {
    const results = await new Measurement(bench, daemons, rounds, progress).run();
    return { bench: 'lb', machine, rounds, ...results, tookMs: Math.round(performance.now() - since) };
  } finally {
    await bench.destroy();
  }
}

class Measurement {
  readonly #bench: BenchLab;
  readonly #daemons: readonly DaemonName[];
  readonly #rounds: number;
  readonly #progress: (line: string) => void;
  readonly #attempts: Attempts;

  constructor(
    bench: BenchLab,
    daemons: readonly DaemonName[],
    rounds: number,
    progress: (line: string) => void,
  ) {
    this.#bench = bench;
    this.#daemons = daemons;
    this.#rounds = rounds;
    this.#progress = progress;
    this.#attempts = new Attempts(progress);
  }

  async run(): Promise<LbResults> {
    const samples = await this.#latency();
    const kernelAlone = await this.#kernelAlone();
    const many = await this.#many();
    const survivors = await this.#survivors();
    const restarts = await this.#restarts();
    const atRest: AtRest[] = [];
    for (const daemon of this.#daemons) {
      this.#progress(`at rest: ${daemon}`);
      const rest = () => measureRest(this.#bench, daemon);
      const found = await this.#attempts.attempt(daemon, 'at rest', rest);
      if (found !== undefined) atRest.push(found);
    }
    const starts = await this.#starts();
    this.#progress('start and rest: bgp-lb speaker');
    const speaker = await this.#attempts.attempt('bgp-lb', 'start and rest of the speaker', () =>
      measureSpeaker(this.#bench, this.#rounds * startsPerRound),
    );
    return {
      latency: this.#daemons.flatMap((daemon) =>
        latencyKinds.flatMap((kind) => {
          const summary = sampled(samples.get(daemon)?.took[kind] ?? []);
          return summary === undefined ? [] : [{ kind, daemon, ...summary }];
        }),
      ),
      missed: Object.fromEntries([...samples].map(([daemon, { missed }]) => [daemon, missed])),
      kernelAlone,
      many,
      survivors,
      restarts,
      atRest: speaker === undefined ? atRest : [...atRest, speaker.atRest],
      starts: [
        ...this.#daemons.map((daemon) => startResult(daemon, starts.get(daemon) ?? [])),
        startResult('bgp-lb speaker', speaker?.starts ?? []),
      ].filter((result) => result !== undefined),
      failures: this.#attempts.failures,
    };
  }

  /** The daemons in an order that changes from round to round. */
  async #alternate(
    what: string,
    rounds: number,
    measure: (daemon: DaemonName) => Promise<void>,
  ): Promise<void> {
    for (let n = 0; n < rounds; n += 1) {
      const first = n % this.#daemons.length;
      for (const daemon of [...this.#daemons.slice(first), ...this.#daemons.slice(0, first)]) {
        this.#progress(`${what}, round ${n + 1} of ${rounds}: ${daemon}`);
        await this.#attempts.attempt(daemon, what, () => measure(daemon));
      }
    }
  }

  async #latency(): Promise<Map<DaemonName, LatencySamples>> {
    const samples = new Map(this.#daemons.map((daemon) => [daemon, noSamples()]));
    await this.#alternate('latency', this.#rounds, async (daemon) => {
      const own = samples.get(daemon);
      if (own !== undefined) await measureLatency(this.#bench, daemon, own);
    });
    return samples;
  }

  async #kernelAlone(): Promise<KernelResult[]> {
    const results: KernelResult[] = [];
    for (const buckets of bucketCounts) {
      this.#progress(`kernel alone: ${buckets} buckets`);
      const times = this.#rounds * replacementsPerRound;
      const took = await measureKernelAlone(this.#bench, buckets, times);
      const summary = sampled(took);
      if (summary !== undefined) results.push({ buckets, ...summary });
    }
    return results;
  }

  async #many(): Promise<ManyResult[]> {
    const samples = noManySamples();
    for (let n = 0; n < this.#rounds; n += 1) {
      this.#progress(`16 VIPs with 16 members, round ${n + 1} of ${this.#rounds}: bgp-lb`);
      const measure = (): Promise<void> => measureMany(this.#bench, samples);
      await this.#attempts.attempt('bgp-lb', '16 VIPs with 16 members', measure);
    }
    return manyKinds.flatMap((kind) => {
      const summary = sampled(samples[kind]);
      return summary === undefined ? [] : [{ kind, ...summary }];
    });
  }

  async #restarts(): Promise<RestartRun[]> {
    const sources = await echoSources(this.#bench);
    const runs: RestartRun[] = [];
    for (let n = 0; n < this.#rounds; n += 1) {
      this.#progress(`restarts, round ${n + 1} of ${this.#rounds}: bgp-lb`);
      const measure = (): Promise<RestartRun[]> => measureRestarts(this.#bench, sources);
      runs.push(...((await this.#attempts.attempt('bgp-lb', 'restarts', measure)) ?? []));
    }
    return runs;
  }

  async #survivors(): Promise<SurvivorRun[]> {
    const runs: SurvivorRun[] = [];
    for (const masters of poolSizes) {
      await this.#alternate(`survivors of ${masters}`, Math.ceil(this.#rounds / 3), async (daemon) => {
        runs.push(await measureSurvivors(this.#bench, daemon, masters));
      });
    }
    return runs;
  }

  async #starts(): Promise<Map<DaemonName, number[]>> {
    const starts = new Map<DaemonName, number[]>();
    await this.#alternate('starts', this.#rounds, async (daemon) => {
      const took = await measureStarts(this.#bench, daemon, startsPerRound);
      starts.set(daemon, [...(starts.get(daemon) ?? []), ...took]);
    });
    return starts;
  }
}

function startResult(daemon: AtRest['daemon'], took: readonly number[]): StartResult | undefined {
  const summary = sampled(took, 1);
  return summary && { daemon, ...summary };
}
