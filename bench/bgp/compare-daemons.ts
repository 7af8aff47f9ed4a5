import { type Failure, failureText } from '../attempts.ts';
import { ofFrr, round, summarize } from '../statistics.ts';
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

/** Runs of one task by all daemons. */
export interface Task<Run> {
  /** As in the failures. */
  readonly what: string;
  readonly runs: readonly Run[];
}

/** What a set of runs of one daemon comes to. */
export function comeTo<Run>({ of, by }: Pick<Column<Run>, 'of' | 'by'>, runs: readonly Run[]): number {
  const values = runs.map((run) => of(run));
  return by === 'max' ? Math.max(...values) : (summarize(values)?.p50 ?? Number.NaN);
}

/**
 * A table with a row for each daemon that has runs of a task, or failed in it. Who was too slow for the task has a lower bound in
 * the first column; other failures are said there, and why below the table.
 */
export function compareDaemons<Run extends { readonly daemon: DaemonName }>(
  tasks: readonly Task<Run>[],
  failures: readonly Failure[],
  columns: readonly Column<Run>[],
): string {
  const head = columns.flatMap(({ title, hasRatio }) => [title, ...(hasRatio === true ? ['of FRR'] : [])]);
  const rows = tasks.flatMap(({ what, runs }) =>
    daemonNames.flatMap((name) => {
      const own = runs.filter(({ daemon }) => daemon === name);
      if (own.length > 0)
        return [[what, name, ...columns.flatMap((column) => cells(column, own, runs)), String(own.length)]];
      const failure = failures.find((one) => one.daemon === name && one.what === what);
      if (failure === undefined) return [];
      const { moreThan } = failure;
      const first = moreThan === undefined ? 'failed' : `more than ${moreThan}`;
      return [[what, name, first, ...head.slice(1).map(() => ''), '0']];
    }),
  );
  return [table(['task', 'daemon', ...head, 'n'], rows), ...failureText(failures)].join('\n\n');
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
  const text = (value: number): string => round(value, places).toFixed(places);
  const range = `${text(Math.min(...values))} to ${text(Math.max(...values))}`;
  return [
    hasRange === true && own.length > 1 ? `${text(figure)} (${range})` : text(figure),
    ...(hasRatio === true ? [ofFrr(figure, comeTo(column, frr))] : []),
  ];
}
