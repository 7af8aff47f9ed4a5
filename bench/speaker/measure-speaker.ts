/** From what happens to a master to what the load balancer's kernel makes of it: the speaker and the router together. */
import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { vipAddress } from '../../scripts/lab/addresses.ts';
import { Lab } from '../../scripts/lab/lab.ts';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import { others, startMaster, waitForAllActive } from '../../test/kit/cluster.ts';
import { NamespaceProcess } from '../../test/kit/namespace-process.ts';
import { Attempts, type Failure } from '../attempts.ts';
import type { Wanted } from '../lb/programs/watcher.ts';
import { describeMachine, type Machine } from '../machine.ts';
import { round, type Sampled, sampled } from '../statistics.ts';

type WatcherProgram = typeof import('../lb/programs/watcher.ts');

/** What happens to a master, and what is waited for. */
export const speakerEvents = [
  '/readyz red to last-resort',
  '[-]shutdown failed to draining',
  'SIGTERM, stopMode drain, to withdrawal',
  'marker to the VIP in the kernel',
] as const;
export type SpeakerEvent = (typeof speakerEvents)[number];

/** In milliseconds. */
interface SpeakerResult {
  readonly event: SpeakerEvent;
  readonly took: Sampled | undefined;
  /** The kernel did not follow within the patience; these are in no summary. */
  readonly missed: number;
}

/** The report. */
export interface SpeakerReport {
  readonly bench: 'speaker';
  readonly machine: Machine;
  readonly rounds: number;
  readonly results: readonly SpeakerResult[];
  readonly loadAfter: readonly number[];
  readonly failures: readonly Failure[];
  readonly tookMs: number;
}

/** How much is measured. */
export interface SpeakerOptions {
  /** How often each event happens. */
  readonly rounds: number;
  readonly niceness: number;
  readonly progress: (line: string) => void;
}

/** Longer than the Idle in which DampPeerOscillations (RFC 4271 section 8.1.1) holds a master that was restarted again and again. */
const patience = 90_000;
/** Before an event, at least; random, to meet every timer at any phase. */
const calm = 500;

/** Runs everything. */
export async function measureSpeaker({ rounds, niceness, progress }: SpeakerOptions): Promise<SpeakerReport> {
  const since = performance.now();
  const machine = await describeMachine(niceness);
  const lab = await Lab.create({
    masters: 3,
    controlPlane: 'stand-in',
    shutdownDelay: 1_500,
    // The intervals of the defaults, which the lab otherwise shortens. The same master comes and goes, and is not to be held back.
    router: { healthCheck: { interval: '1s', rise: 2 }, pool: { flapHold: '0s' } },
    speaker: { stopMode: 'drain' },
  });
  try {
    const bench = await SpeakerBench.start(lab);
    const attempts = new Attempts(progress);
    const results: SpeakerResult[] = [];
    for (const event of speakerEvents) {
      const took: number[] = [];
      for (let n = 0; n < rounds; n += 1) {
        progress(`${event}, ${n + 1} of ${rounds}`);
        const ms = await attempts.attempt('bgp-lb', event, () => bench.measure(event));
        if (ms !== undefined) took.push(ms);
      }
      const missed = rounds - took.length;
      results.push({ event, took: sampled(took, 1), missed });
    }
    const loadAfter = loadavg().map((load) => round(load, 2));
    const { failures } = attempts;
    const tookMs = Math.round(performance.now() - since);
    return { bench: 'speaker', machine, rounds, results, loadAfter, failures, tookMs };
  } finally {
    await lab.destroy();
  }
}

class SpeakerBench {
  readonly #lab: Lab;
  readonly #victim: MasterHost;
  readonly #watcher: NamespaceProcess<WatcherProgram>;

  private constructor(lab: Lab, watcher: NamespaceProcess<WatcherProgram>) {
    this.#lab = lab;
    this.#victim = lab.master(2);
    this.#watcher = watcher;
  }

  /** The watcher first: it is to see every change. It ends with the lab. */
  static async start(lab: Lab): Promise<SpeakerBench> {
    const launcher = ['ip', 'netns', 'exec', lab.lb.namespace];
    const module = new URL('../lb/programs/watcher.ts', import.meta.url);
    const watcher = await NamespaceProcess.start<WatcherProgram>(launcher, module);
    await watcher.run((w, prefix) => w.watch(prefix), `${vipAddress}/32`);
    await lab.lb.router.start();
    await startMaster(lab, lab.master(1));
    await Promise.all(others(lab, lab.master(1)).map((master) => startMaster(lab, master)));
    return new SpeakerBench(lab, watcher);
  }

  async measure(event: SpeakerEvent): Promise<number | undefined> {
    const victim = this.#victim;
    const { speaker } = victim;
    switch (event) {
      case '/readyz red to last-resort': {
        await this.#allWell();
        const took = await this.#timed('lesser', () => victim.setApiServer('not-ready', ['etcd']));
        await victim.setApiServer('ready');
        return took;
      }
      case '[-]shutdown failed to draining': {
        await this.#allWell();
        let stopped: Promise<void> | undefined;
        const took = await this.#timed('lesser', async () => {
          stopped = victim.stopApiServer();
        });
        await stopped;
        await victim.startApiServer();
        return took;
      }
      case 'SIGTERM, stopMode drain, to withdrawal': {
        await this.#allWell();
        const took = await this.#timed('absent', async () => speaker.process?.signal('SIGTERM'));
        await speaker.process?.exited;
        await victim.startSpeaker();
        return took;
      }
      case 'marker to the VIP in the kernel':
        return this.#bootstrap();
      default:
        return event satisfies never;
    }
  }

  async #bootstrap(): Promise<number | undefined> {
    const { speaker, markerFile } = this.#victim;
    await this.#allWell();
    await speaker.stop();
    const { code, stderr } = await speaker.command(['prepare', '--role', 'join'], 60_000);
    if (code !== 0) throw new Error(`prepare: ${stderr}`);
    rmSync(markerFile, { force: true });
    await this.#victim.startSpeaker();
    await speaker.waitFor(
      'a green /readyz and a session',
      ({ gates, routers }) =>
        routers.every(({ session }) => session === 'Established') &&
        gates.some(({ name, pass }) => name === 'readyz' && pass),
      patience,
    );
    await this.#pause();
    return this.#timed('full', async () => writeFileSync(markerFile, ''));
  }

  /** Milliseconds from before `cause` begins to the kernel's notification of what it leads to. */
  async #timed(change: Wanted, cause: () => Promise<unknown>): Promise<number | undefined> {
    const since = process.hrtime.bigint();
    const query = { since, gateway: this.#victim.address, wanted: change, timeout: patience };
    const seen = this.#watcher.run((w, q) => w.firstSince(q), query);
    await cause();
    const at = await seen;
    return at === undefined ? undefined : Number(at - since) / 1e6;
  }

  async #allWell(): Promise<void> {
    await waitForAllActive(this.#lab, patience);
    await this.#pause();
  }

  async #pause(): Promise<void> {
    await sleep(calm * (1 + Math.random()));
  }
}
