import { round, summarize } from '../statistics.ts';
import { table } from '../table.ts';
import { type DaemonName, daemonNames } from './daemon.ts';

/** A figure of a run. */
export interface Column<Run> {
  readonly title: string;
  of(run: Run): number;
  /** Decimal places. */
  readonly places: number;
  /** What the runs of a daemon come to; the default is their median. */
  readonly by?: 'median' | 'max';
  /** The smallest and the largest run beside it. */
  readonly hasRange?: boolean;
  /** What it is of FRR's beside it. */
  readonly hasRatio?: boolean;
}

/** A table with a row for each daemon that has runs. */
export function compareDaemons<Run extends { readonly daemon: DaemonName }>(
  runs: readonly Run[],
  columns: readonly Column<Run>[],
): string {
  const present = daemonNames.filter((name) => runs.some(({ daemon }) => daemon === name));
  const head = columns.flatMap(({ title, hasRange, hasRatio }) => [
    title,
    ...(hasRange === true ? ['min to max'] : []),
    ...(hasRatio === true ? ['of FRR'] : []),
  ]);
  const rows = present.map((name) => {
    const own = runs.filter(({ daemon }) => daemon === name);
    return [name, ...columns.flatMap((column) => cells(column, own, runs)), String(own.length)];
  });
  return table(['daemon', ...head, 'n'], rows);
}

function cells<Run extends { readonly daemon: DaemonName }>(
  column: Column<Run>,
  own: readonly Run[],
  all: readonly Run[],
): string[] {
  const { places, hasRange, hasRatio } = column;
  const values = own.map((run) => column.of(run));
  const figure = comeTo(column, own);
  const frr = all.filter(({ daemon }) => daemon === 'FRR');
  const ratio = round(figure / comeTo(column, frr), 2);
  const text = (value: number): string => round(value, places).toFixed(places);
  return [
    text(figure),
    ...(hasRange === true ? [`${text(Math.min(...values))} to ${text(Math.max(...values))}`] : []),
    ...(hasRatio === true ? [Number.isFinite(ratio) ? ratio.toFixed(2) : ''] : []),
  ];
}

function comeTo<Run>({ of, by }: Column<Run>, runs: readonly Run[]): number {
  const values = runs.map((run) => of(run));
  return by === 'max' ? Math.max(...values) : (summarize(values)?.p50 ?? Number.NaN);
}
