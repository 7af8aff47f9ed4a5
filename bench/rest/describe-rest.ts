import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import { type Summary, summarize } from '../statistics.ts';
import { table } from '../table.ts';
import type { RestReading, RestReport } from './measure-rest.ts';

/** The report as Markdown. */
export function describeRest(report: RestReport): string {
  return [machineText(report), restTable(report), ...failureText(report.failures)].join('\n\n');
}

/** Both forms. */
export function restTable({ results }: RestReport): string {
  const rows = results.map(({ form, starts, readings }) => {
    const of = (figure: (reading: RestReading) => number): string =>
      spread(summarize(readings.map(figure)), 1);
    return [
      form,
      spread(starts, 0),
      String(starts?.n ?? 0),
      of(({ rssMiB }) => rssMiB),
      of(({ anonymousMiB }) => anonymousMiB),
      of(({ pssMiB }) => pssMiB),
      of(({ cpuPercent }) => cpuPercent),
      String(readings.length),
    ];
  });
  const head = ['speaker', 'started, ms', 'n', 'RSS MiB', 'anonymous MiB', 'PSS MiB', '% of a core', 'n'];
  return table(head, rows);
}

function spread(summary: Summary | undefined, places: number): string {
  if (summary === undefined) return '';
  const [p50, min, max] = [summary.p50, summary.min, summary.max].map((value) => value.toFixed(places));
  return summary.n === 1 ? `${p50}` : `${p50} (${min} to ${max})`;
}
