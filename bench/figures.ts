/** What the project is held to, all of it, beside what was recorded. */
import { type Column, comeTo } from './bgp/compare-daemons.ts';
import type { DaemonName } from './bgp/daemon.ts';
import { keepaliveLateness } from './ingest/describe-ingest.ts';
import type { BenchName, Recorded } from './record/recorded-report.ts';
import { type SpeakerEvent, speakerEvents } from './speaker/measure-speaker.ts';
import { summarize } from './statistics.ts';
import { table } from './table.ts';

/** A promise, and what became of it. */
export interface Figure {
  readonly bench: BenchName;
  readonly what: string;
  readonly unit: string;
  /** The largest value that keeps the promise; undefined when it is another daemon's, which was not measured. */
  readonly atMost: number | undefined;
  /** Undefined when it was not measured. */
  readonly measured: number | undefined;
  readonly met: boolean;
}

const ms = 'ms';
const megabytes = 'MB';
const none = 'broken';
const ratio = "of FRR's";
const percent = '% of a core';

/** Megabytes: /proc tells of KiB, and the promises are in units of a million. */
const mb = (mebibytes: number): number => (mebibytes * 2 ** 20) / 1e6;

/** Every promise of a benchmark, held against its report, if there is one. Where it covers several things, the worst counts. */
export function figures(recorded: Recorded): Figure[] {
  return [
    ...lbFigures(recorded.lb),
    ...deathFigures(recorded.death),
    ...speakerFigures(recorded.speaker),
    ...restFigures(recorded.rest),
    ...ingestFigures(recorded.ingest),
    ...reflectFigures(recorded.reflect),
    ...sessionsFigures(recorded.sessions),
  ];
}

/** As people read them. */
export function figureTable(all: readonly Figure[]): string {
  const rows = all.map(({ bench, what, unit, atMost, measured, met }) => [
    what,
    bench,
    textOf(atMost, unit),
    textOf(measured, unit),
    measured === undefined || atMost === undefined ? 'not measured' : met ? 'met' : 'missed',
  ]);
  return table(['figure', 'bench', 'at most', 'measured', ''], rows);
}

function textOf(value: number | undefined, unit: string): string {
  if (value === undefined) return '';
  const isWhole = Number.isInteger(value) || value >= 100;
  return `${isWhole ? value.toFixed(0) : String(Number(value.toPrecision(3)))} ${unit}`;
}

function makerOf(bench: BenchName) {
  return (
    what: string,
    unit: string,
    atMost: number | undefined,
    values: readonly (number | undefined)[],
  ): Figure => {
    const known = values.filter((value): value is number => value !== undefined && !Number.isNaN(value));
    const measured = known.length === 0 || known.length < values.length ? undefined : Math.max(...known);
    const met = measured !== undefined && atMost !== undefined && measured <= atMost;
    return { bench, what, unit, atMost, measured, met };
  };
}

function lbFigures(report: Recorded['lb']): Figure[] {
  const figure = makerOf('lb');
  const of = (...kinds: readonly string[]) =>
    report?.latency.filter(({ daemon, kind }) => daemon === 'bgp-lb' && kinds.includes(kind)) ?? [];
  // A pool of a size that was not measured leaves the promise open.
  const survivors = [3, 5, 16].flatMap((size) => {
    const runs = (report?.survivors ?? []).filter(
      ({ daemon, masters }) => daemon === 'bgp-lb' && masters === size,
    );
    return runs.length === 0 ? [undefined] : runs.flatMap(({ victims }) => victims);
  });
  const rss = (daemon: string): number[] =>
    (report?.atRest ?? [])
      .filter((one) => one.daemon === daemon)
      .flatMap(({ processes }) => processes.map(({ rssMiB }) => mb(rssMiB)));
  const start = (daemon: string): number[] =>
    (report?.starts ?? []).filter((one) => one.daemon === daemon).map(({ p50 }) => p50);
  const p50 = (all: ReturnType<typeof of>): number[] => all.map((one) => one.p50);
  const updates = of('lesser', 'full');
  return [
    figure('UPDATE to kernel, p50', ms, 1.5, p50(updates)),
    figure(
      'UPDATE to kernel, p99',
      ms,
      5,
      updates.map(({ p99 }) => p99),
    ),
    figure('withdrawal to next hop gone, p50', ms, 3, p50(of('withdraw'))),
    figure('Cease to next hop gone, p50', ms, 3, p50(of('cease'))),
    figure(
      'survivors of a leave, any victim',
      none,
      0,
      survivors.map((one) => one?.brokenAtSurvivors),
    ),
    figure(
      'connections after a return, any victim',
      none,
      0,
      survivors.map((one) => one?.brokenByReturn),
    ),
    figure(
      '16 VIPs x 16 members, all changed, p99',
      ms,
      50,
      (report?.many ?? []).map((one) => one.p99),
    ),
    figure(
      'packets through restarts of the router',
      'lost',
      0,
      (report?.restarts ?? []).map(({ lost }) => lost),
    ),
    figure('router at rest, RSS', megabytes, 96, rss('bgp-lb')),
    figure('speaker at rest, one router, RSS', megabytes, 72, rss('bgp-lb speaker')),
    figure('router started, p50', ms, 500, start('bgp-lb')),
    figure('speaker started, one router, p50', ms, 500, start('bgp-lb speaker')),
  ];
}

function deathFigures(report: Recorded['death']): Figure[] {
  const figure = makerOf('death');
  const of = (kind: string, daemon = 'bgp-lb') =>
    (report?.results ?? []).filter((one) => one.kind === kind && one.daemon === daemon);
  const fast = of('BFD 50 ms x 3');
  const bird = of('BFD 50 ms x 3', 'BIRD')[0]?.gone?.p50;
  const gone = fast.map((one) => one.gone?.p50);
  const killed = report?.killedSpeakers;
  return [
    figure('silent death, BFD 50 ms x 3, p50', ms, 150, gone),
    figure("the same, no worse than BIRD's", ms, bird, gone),
    figure(
      'and all new clients served, p50',
      ms,
      200,
      fast.map(({ served }) => served?.p50),
    ),
    figure(
      'silent death, BFD 300 ms x 3, longest',
      ms,
      900,
      of('BFD 300 ms x 3').map((one) => one.gone?.max),
    ),
    figure(
      'silent death, hold time 3 s, p50',
      ms,
      2600,
      of('hold time 3 s, no BFD').map((one) => one.gone?.p50),
    ),
    figure(
      'link down, p50',
      ms,
      10,
      of('link down').map((one) => one.gone?.p50),
    ),
    figure(
      'deaths that were not noticed',
      'missed',
      0,
      (report?.results ?? []).filter(({ daemon }) => daemon === 'bgp-lb').map(({ missed }) => missed),
    ),
    figure('next hops, when speakers are killed', 'lost', 0, killed === undefined ? [] : [killed.lost]),
    figure('connections, when speakers are killed', none, 0, killed === undefined ? [] : [killed.broken]),
  ];
}

/** In ms. */
const wantedOfEvent: Readonly<Record<SpeakerEvent, number>> = {
  // The defaults of the probe: fall times interval, and 50 ms.
  '/readyz red to last-resort': 3 * 200 + 50,
  '[-]shutdown failed to draining': 250,
  'SIGTERM, stopMode drain, to withdrawal': 50,
  'marker to the VIP in the kernel': 1500,
};

function speakerFigures(report: Recorded['speaker']): Figure[] {
  const figure = makerOf('speaker');
  const of = (event: string) => (report?.results ?? []).filter((one) => one.event === event);
  return speakerEvents.map((event) =>
    figure(
      `${event}, p50`,
      ms,
      wantedOfEvent[event],
      of(event).map(({ took }) => took?.p50),
    ),
  );
}

function restFigures(report: Recorded['rest']): Figure[] {
  const figure = makerOf('rest');
  const result = (form: string) => report?.results.find((one) => one.form === form);
  const median = (form: string, of: 'rssMiB' | 'cpuPercent'): number[] => {
    const all = result(form)?.readings.map((reading) => reading[of]) ?? [];
    const summary = summarize(all);
    return summary === undefined ? [] : [summary.p50];
  };
  return [
    figure('speaker at rest, three routers, RSS', megabytes, 64, median('bundle', 'rssMiB').map(mb)),
    figure('the same as the single file', megabytes, 80, median('single file', 'rssMiB').map(mb)),
    figure('speaker at rest, three routers', percent, 0.5, median('bundle', 'cpuPercent')),
    figure('speaker started, three routers, p50', ms, 300, [result('bundle')?.starts?.p50]),
  ];
}

/** What a daemon's runs come to, as the tables have it. */
function ofDaemon<Run extends { readonly daemon: DaemonName }>(
  runs: readonly Run[],
  column: Pick<Column<Run>, 'of' | 'by'>,
  name: DaemonName = 'bgp-lb',
): number | undefined {
  const own = runs.filter(({ daemon }) => daemon === name);
  return own.length === 0 ? undefined : comeTo(column, own);
}

function toFrr<Run extends { readonly daemon: DaemonName }>(
  runs: readonly Run[],
  of: (run: Run) => number,
): number | undefined {
  const [ours, frr] = [ofDaemon(runs, { of }), ofDaemon(runs, { of }, 'FRR')];
  return ours === undefined || frr === undefined ? undefined : ours / frr;
}

function ingestFigures(report: Recorded['ingest']): Figure[] {
  const figure = makerOf('ingest');
  const runs = (report?.runs ?? []).filter(({ prefixes }) => prefixes === 1_000_000);
  const late = report && ofDaemon(runs, { of: (run) => keepaliveLateness(run, report), by: 'max' });
  return [
    figure('1,000,000 prefixes, wall time', ratio, 0.25, [toFrr(runs, ({ wall }) => wall)]),
    figure('1,000,000 prefixes, peak RSS', ratio, 0.5, [toFrr(runs, ({ peakMiB }) => peakMiB)]),
    figure('latest KEEPALIVE meanwhile', `${ms} late`, 50, [late]),
  ];
}

function reflectFigures(report: Recorded['reflect']): Figure[] {
  const runs = (report?.runs ?? []).filter(() => report?.prefixes === 100_000);
  return [
    makerOf('reflect')('100,000 prefixes to 9 clients, wall time', ratio, 2, [
      toFrr(runs, ({ wall }) => wall),
    ]),
  ];
}

function sessionsFigures(report: Recorded['sessions']): Figure[] {
  const figure = makerOf('sessions');
  return [90, 9].flatMap((holdTime) => {
    const runs = (report?.runs ?? []).filter((run) => run.holdTime === holdTime && report?.sessions === 1000);
    const named = `1000 sessions, hold time ${holdTime} s`;
    return [
      figure(`${named}, Established`, 's', 2, [ofDaemon(runs, { of: ({ all }) => all })]),
      figure(`${named}, peak RSS`, megabytes, 150, [ofDaemon(runs, { of: ({ peakMiB }) => mb(peakMiB) })]),
      figure(`${named}, at rest`, percent, 1, [ofDaemon(runs, { of: ({ restPercent }) => restPercent })]),
    ];
  });
}
