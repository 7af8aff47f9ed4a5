import { type Column, compareDaemons, type Task } from '../bgp/compare-daemons.ts';
import { machineText } from '../machine.ts';
import { type IngestReport, type IngestRun, ingestTask } from './measure-ingest.ts';

/** The report as Markdown. */
export function describeIngest(report: IngestReport): string {
  return [machineText(report), ingestTable(report)].join('\n\n');
}

/** The longest wait for a KEEPALIVE in a run beyond the time that is due, in ms. */
export function keepaliveLateness({ longestGap }: IngestRun, { keepaliveInterval }: IngestReport): number {
  return Math.max(0, longestGap - keepaliveInterval);
}

/** All daemons, both sizes. */
export function ingestTable(report: IngestReport): string {
  const { runs, failures } = report;
  const sizes = [...new Set(runs.map(({ prefixes }) => prefixes))];
  const tasks = sizes.map(
    (prefixes): Task<IngestRun> => ({
      what: ingestTask(prefixes),
      runs: runs.filter((run) => run.prefixes === prefixes),
    }),
  );
  const columns: readonly Column<IngestRun>[] = [
    { title: 'wall s', of: ({ wall }) => wall, places: 2, hasRange: true, hasRatio: true },
    { title: 'CPU s', of: ({ cpu }) => cpu, places: 2, hasRange: true, hasRatio: true },
    { title: 'peak MiB', of: (run) => run.peakMiB, places: 0, hasRange: true, hasRatio: true },
    {
      title: 'latest KEEPALIVE, ms',
      of: (run) => keepaliveLateness(run, report),
      places: 0,
      by: 'max',
    },
  ];
  return compareDaemons(tasks, failures, columns);
}
