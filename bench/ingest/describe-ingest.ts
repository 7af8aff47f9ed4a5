import { compareDaemons } from '../bgp/compare-daemons.ts';
import { machineLine } from '../machine.ts';
import type { IngestReport } from './measure-ingest.ts';

/** The report as Markdown. */
export function describeIngest(report: IngestReport): string {
  const sizes = [...new Set(report.runs.map(({ prefixes }) => prefixes))];
  return [
    machineLine(report),
    ...sizes.map((prefixes) => describeSize(report, prefixes)),
    ...report.failures.map(({ daemon, what, reason }) => `${daemon}, ${what}: ${reason}`),
  ].join('\n\n');
}

function describeSize({ runs, keepaliveInterval }: IngestReport, prefixes: number): string {
  const own = runs.filter((run) => run.prefixes === prefixes);
  const feed = own[0]?.feed;
  return [
    `${prefixes} prefixes in ${feed?.updates} UPDATEs with ${feed?.attributeSets} sets of attributes, ${feed?.bytes} octets:`,
    compareDaemons(own, [
      { title: 'wall s', of: ({ wall }) => wall, places: 1, hasRange: true, hasRatio: true },
      { title: 'CPU s', of: ({ cpu }) => cpu, places: 1, hasRatio: true },
      { title: 'peak MiB', of: (run) => run.peakMiB, places: 0, hasRatio: true },
      {
        title: 'KEEPALIVE late, ms',
        of: ({ longestGap }) => Math.max(0, longestGap - keepaliveInterval),
        places: 0,
        by: 'max',
      },
    ]),
  ].join('\n\n');
}
