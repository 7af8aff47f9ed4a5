/** The report as Markdown tables, for a terminal and for docs/benchmarks*.md. */

import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import { ofFrr, type Summary } from '../statistics.ts';
import { table } from '../table.ts';
import { daemonNames } from './daemons/load-balancer.ts';
import type { LatencyKind } from './latency.ts';
import type { ManyKind } from './many.ts';
import type { LbReport } from './measure-lb.ts';
import type { SurvivorRun, Victim } from './survivors.ts';

const kindNames: Readonly<Record<LatencyKind, string>> = {
  lesser: 'UPDATE with GRACEFUL_SHUTDOWN, LOCAL_PREF 0',
  full: 'UPDATE without them again',
  withdraw: 'withdrawal',
  appear: 'path appears',
  cease: 'Cease',
};

const manyNames: Readonly<Record<ManyKind, string>> = {
  lesser: 'one member asks for less in all pools',
  full: 'and for its full share again',
  'withdraw-each': 'each member leaves a pool of its own',
  cease: 'one member leaves all pools, by Cease',
};

/** The whole report as text. */
export function describeLb(report: LbReport): string {
  return [
    machineText(report),
    `From a BGP message to the kernel, in ms:\n\n${latencyTable(report)}`,
    `The kernel alone: one replacement of a resilient group of three, in ms:\n\n${kernelTable(report)}`,
    `16 VIPs with 16 members each, from the change to the last object in the kernel, in ms:\n\n${manyTable(report)}`,
    `Connections broken, of 300:\n\n${survivorTable(report)}`,
    `Packets through a router that ends and is started again, some 1000 a second:\n\n${restartTable(report)}`,
    `At rest with three members:\n\n${restTable(report)}`,
    `From the start of the process to an answer on its control socket, in ms:\n\n${startTable(report)}`,
    ...failureText(report.failures),
  ].join('\n\n');
}

const milliseconds = (value: number, places = 2): string => value.toFixed(places);

function spread({ p50, p99, min, max, n }: Summary, places: number): string[] {
  return [p50, p99, min, max].map((value) => milliseconds(value, places)).concat(String(n));
}

/** From a message to the kernel; below it what had no effect there. */
export function latencyTable(report: LbReport): string {
  const { latency } = report;
  const frr = (kind: LatencyKind): number | undefined =>
    latency.find((one) => one.daemon === 'FRR' && one.kind === kind)?.p50;
  const rows = Object.entries(kindNames).flatMap(([kind, name]) =>
    latency
      .filter((one) => one.kind === kind)
      .map((one) => [name, one.daemon, ...spread(one, 2), ofFrr(one.p50, frr(one.kind))]),
  );
  const head = ['message', 'daemon', 'p50', 'p99', 'min', 'max', 'n', 'p50 of FRR'];
  return `${table(head, rows)}\n\n${missedText(report)}`;
}

/** The kernel without a daemon. */
export function kernelTable({ kernelAlone }: LbReport): string {
  const rows = kernelAlone.map((one) => [String(one.buckets), ...spread(one, 2)]);
  return table(['buckets', 'p50', 'p99', 'min', 'max', 'n'], rows);
}

/** Many VIPs at once. */
export function manyTable({ many }: LbReport): string {
  const rows = many.map((one) => [manyNames[one.kind], ...spread(one, 1)]);
  return table(['change', 'p50', 'p99', 'min', 'max', 'n'], rows);
}

/** Restarts of the router. */
export function restartTable({ restarts }: LbReport): string {
  const rows = restarts.map(({ end, sent, lost, unreachable, tookMs }) =>
    [end, sent, lost, unreachable, tookMs].map(String),
  );
  return table(['end', 'sent', 'lost', 'unreachable', 'ms from end to end'], rows);
}

function missedText({ missed }: LbReport): string {
  const counts = Object.entries(missed).map(([daemon, count]) => `${daemon} ${count}`);
  return `Messages without any effect in the kernel within 5 s, in no figure above: ${counts.join(', ')}.`;
}

/** Broken connections; below it why those of ours broke. */
export function survivorTable({ survivors }: LbReport): string {
  const range = (victims: readonly Victim[], of: (victim: Victim) => number): string => {
    const values = victims.map(of);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return least === most ? String(least) : `${least} to ${most}`;
  };
  const order = survivors.toSorted((a, b) => a.masters - b.masters || rank(a.daemon) - rank(b.daemon));
  const rows = order.map(({ masters, daemon, victims }) => [
    String(masters),
    daemon,
    String(victims.length),
    range(victims, ({ atVictim }) => atVictim),
    range(victims, ({ survivors }) => survivors),
    range(victims, ({ brokenAtSurvivors }) => brokenAtSurvivors),
    range(victims, ({ brokenByReturn }) => brokenByReturn),
  ]);
  const head = [
    'masters',
    'daemon',
    'victims',
    'at victim',
    'survivors',
    'survivors broken',
    'broken by return',
  ];
  return `${table(head, rows)}\n\n${breakageText(survivors)}`;
}

const rank = (daemon: SurvivorRun['daemon']): number => daemonNames.indexOf(daemon);

/** Why connections of ours broke that should not have, one line each: a figure that is missed needs its evidence. */
function breakageText(runs: readonly SurvivorRun[]): string {
  const lines = runs
    .filter(({ daemon }) => daemon === 'bgp-lb')
    .flatMap(({ masters, victims }) =>
      victims.flatMap(({ victim, leave, return: back }) =>
        [
          { what: 'leave', ...leave },
          { what: 'return', ...back },
        ]
          .filter(({ broken }) => broken > 0)
          .map(
            ({ what, reasons, slowestMs, poolChanges }) =>
              `bgp-lb, ${masters} masters, ${what} of ${victim}: ${JSON.stringify(reasons)}, slowest answer ` +
              `${slowestMs} ms, pool ${poolChanges.map((pool) => JSON.stringify(pool)).join(', then ')}`,
          ),
      ),
    );
  return lines.length === 0 ? 'None of bgp-lb broke.' : lines.join('\n');
}

/** What daemons at rest cost. */
export function restTable({ atRest }: LbReport): string {
  const rows = atRest.flatMap(({ daemon, processes }) =>
    processes.map(({ process, rssMiB, cpuPercent }) => [
      daemon,
      process,
      rssMiB.toFixed(1),
      cpuPercent.toFixed(1),
    ]),
  );
  return table(['daemon', 'process', 'RSS in MiB', '% of a core'], rows);
}

/** From the start of a process to its control socket. */
export function startTable({ starts }: LbReport): string {
  const frr = starts.find(({ daemon }) => daemon === 'FRR')?.p50;
  const rows = starts.map((one) => [one.daemon, ...spread(one, 0), ofFrr(one.p50, frr)]);
  return table(['daemon', 'p50', 'p99', 'min', 'max', 'n', 'p50 of FRR'], rows);
}
