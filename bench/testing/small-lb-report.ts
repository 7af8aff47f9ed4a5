import type { LbReport } from '../lb/measure-lb.ts';
import type { SurvivorRun } from '../lb/survivors.ts';
import { sampled } from '../statistics.ts';
import { machine } from './small-reports.ts';

/** A summary of some samples, of which there are some. */
function of(...samples: readonly number[]) {
  const summary = sampled(samples);
  if (summary === undefined) throw new RangeError('no samples');
  return summary;
}

function survivorRun(masters: number, daemon: SurvivorRun['daemon'], brokenAtSurvivors: number): SurvivorRun {
  const pool = { '10.0.1.1': 1, '10.0.1.2': 1 };
  const whole = { broken: 0, reasons: {}, slowestMs: 2, poolChanges: [pool] };
  const leave = { ...whole, broken: brokenAtSurvivors, reasons: { reset: brokenAtSurvivors } };
  const victim = {
    ...{ victim: 'm1', atVictim: 100, survivors: 200, brokenAtSurvivors },
    ...{ connections: 300, brokenByReturn: 0, leave, return: whole },
  };
  return { masters, daemon, victims: [victim] };
}

/** Ours breaks one connection, FRR forty. */
export const lbReport: LbReport = {
  ...{ bench: 'lb', machine, rounds: 1, tookMs: 60_000, missed: { 'bgp-lb': 0, FRR: 1 }, failures: [] },
  latency: [
    { kind: 'lesser', daemon: 'bgp-lb', ...of(1, 2, 9) },
    { kind: 'full', daemon: 'bgp-lb', ...of(1, 1, 1) },
    { kind: 'lesser', daemon: 'FRR', ...of(60, 62) },
    { kind: 'withdraw', daemon: 'bgp-lb', ...of(2) },
    { kind: 'cease', daemon: 'bgp-lb', ...of(4) },
  ],
  kernelAlone: [{ buckets: 4096, ...of(0.4) }],
  many: [
    { kind: 'lesser', ...of(30, 60) },
    { kind: 'cease', ...of(20) },
  ],
  survivors: [
    survivorRun(3, 'FRR', 40),
    survivorRun(3, 'bgp-lb', 1),
    survivorRun(5, 'bgp-lb', 0),
    survivorRun(16, 'bgp-lb', 0),
  ],
  restarts: [{ end: 'kill -9', sent: 1000, lost: 0, unreachable: 0, tookMs: 4000 }],
  atRest: [{ daemon: 'bgp-lb', processes: [{ process: 'router', rssMiB: 93, cpuPercent: 1 }] }],
  starts: [
    { daemon: 'bgp-lb', ...of(400, 500) },
    { daemon: 'FRR', ...of(200) },
  ],
};
