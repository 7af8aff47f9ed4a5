/** What the daemons cost when nothing happens, and how soon they are there. */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterHost } from '../../scripts/lab/master-host.ts';
import type { JsonObject } from '../../scripts/lab/object-store.ts';
import type { BenchLab } from './bench-lab.ts';
import { isHealthy, timeUntil } from './daemons/control-socket.ts';
import type { DaemonName } from './daemons/load-balancer.ts';
import { type Usage, usageAtRest } from './process-usage.ts';

/** A daemon, or our speaker, at rest. */
export interface AtRest {
  readonly daemon: DaemonName | 'bgp-lb speaker';
  readonly processes: readonly Usage[];
}

const poolSize = 3;
/** Before the rest: start-up work is over and its garbage collected. */
const calm = 5_000;
const restSeconds = 10;
/** The default of our router, where the lab probes more often. */
const routerDefaults: JsonObject = { healthCheck: { interval: '1s' } };

/** A daemon with three members in its pool. */
export function measureRest(bench: BenchLab, daemon: DaemonName): Promise<AtRest> {
  return bench.running(bench.balancer(daemon, routerDefaults), poolSize, async ({ balancer }) => {
    await sleep(calm);
    return { daemon, processes: await usageAtRest(balancer.processes(), restSeconds) };
  });
}

/** Milliseconds from the start of a daemon to its control socket, `times` times, each on a fresh host. */
export async function measureStarts(bench: BenchLab, daemon: DaemonName, times: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const balancer = bench.balancer(daemon, routerDefaults);
    await bench.freshLoadBalancer();
    try {
      took.push(await balancer.start());
    } finally {
      await balancer.stop();
    }
  }
  return took;
}

/** Our speaker, on a master with a ready API server; `speaker` is not running before and after. */
export interface SpeakerFigures {
  readonly atRest: AtRest;
  /** Milliseconds from the start to the control socket. */
  readonly starts: readonly number[];
}

/** Starts our speaker some times, then lets it rest with its session to our router up and the VIP advertised. */
export async function measureSpeaker(bench: BenchLab, times: number): Promise<SpeakerFigures> {
  const host = await bench.placeSpeaker();
  return bench.running(bench.balancer('bgp-lb'), poolSize, async () => {
    const starts: number[] = [];
    try {
      for (let n = 0; n < times; n += 1) {
        await host.speaker.stop();
        starts.push(await startSpeaker(host));
      }
      await host.speaker.waitFor('VIP advertised', ({ vips }) =>
        vips.every(({ state }) => state === 'advertised'),
      );
      await sleep(calm);
      const processes = { speaker: host.speaker.process?.pid ?? 0 };
      const atRest: AtRest = {
        daemon: 'bgp-lb speaker',
        processes: await usageAtRest(processes, restSeconds),
      };
      return { atRest, starts };
    } finally {
      await host.speaker.stop();
    }
  });
}

function startSpeaker({ speaker, markerFile }: MasterHost): Promise<number> {
  writeFileSync(markerFile, '');
  const since = performance.now();
  const started = speaker.spawn();
  return timeUntil(started, () => isHealthy(speaker.socketPath), since);
}
