/** What the product promises, beside what was measured. */
import type { LbResults } from './measure-lb.ts';

/** A promise and what became of it. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly atMost: number;
  readonly measured: number;
  readonly met: boolean;
}

const MS = 'ms';

/** Holds the results against the promises; a figure that was not measured is not met. */
export function figures(results: LbResults): Figure[] {
  const figure = (what: string, unit: string, atMost: number, values: readonly number[]): Figure => {
    const measured = values.length === 0 ? Number.NaN : Math.max(...values);
    return { what, unit, atMost, measured, met: measured <= atMost };
  };
  const ours = results.latency.filter(({ daemon }) => daemon === 'bgp-lb');
  const of = (...kinds: readonly string[]): typeof ours => ours.filter(({ kind }) => kinds.includes(kind));
  const changes = of('lesser', 'full');
  const survivors = results.survivors
    .filter(({ daemon }) => daemon === 'bgp-lb')
    .flatMap(({ victims }) => victims);
  const rss = (daemon: string): number[] =>
    results.atRest
      .filter((one) => one.daemon === daemon)
      .flatMap(({ processes }) => processes.map(({ rssMiB }) => rssMiB));
  const start = (daemon: string): number[] =>
    results.starts.filter((one) => one.daemon === daemon).map(({ p50 }) => p50);
  return [
    figure(
      'UPDATE to kernel, p50',
      MS,
      1.5,
      changes.map(({ p50 }) => p50),
    ),
    figure(
      'UPDATE to kernel, p99',
      MS,
      5,
      changes.map(({ p99 }) => p99),
    ),
    figure(
      'withdrawal to next hop gone, p50',
      MS,
      3,
      of('withdraw').map(({ p50 }) => p50),
    ),
    figure(
      'Cease to next hop gone, p50',
      MS,
      3,
      of('cease').map(({ p50 }) => p50),
    ),
    figure(
      'survivors broken, any victim',
      'connections',
      0,
      survivors.map((one) => one.brokenAtSurvivors),
    ),
    figure(
      'broken by a return, any victim',
      'connections',
      0,
      survivors.map((one) => one.brokenByReturn),
    ),
    figure(
      '16 VIPs x 16 members, p99',
      MS,
      50,
      results.many.map(({ p99 }) => p99),
    ),
    figure(
      'packets lost by a restart',
      'packets',
      0,
      results.restarts.map(({ lost }) => lost),
    ),
    figure('router at rest', 'MiB', 96, rss('bgp-lb')),
    figure('speaker at rest', 'MiB', 72, rss('bgp-lb speaker')),
    figure('router started, p50', MS, 500, start('bgp-lb')),
    figure('speaker started, p50', MS, 500, start('bgp-lb speaker')),
  ];
}
