import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import { table } from '../table.ts';
import type { EvidenceReport } from './measure-evidence.ts';

/** The report as Markdown. */
export function describeEvidence(report: EvidenceReport): string {
  return [machineText(report), evidenceTable(report), ...failureText(report.failures)].join('\n\n');
}

/** Each kind of segment, with the table that counts and without it. */
export function evidenceTable({ results }: EvidenceReport): string {
  const rows = results.map(({ kind, isCounted, took }) => {
    const without = results.find((one) => one.kind === kind && !one.isCounted)?.took.p50;
    const more = without === undefined ? Number.NaN : (took.p50 / without - 1) * 100;
    return [
      kind.toUpperCase(),
      isCounted ? 'counted' : 'not counted',
      `${took.p50.toFixed(2)} (${took.min.toFixed(2)} to ${took.max.toFixed(2)})`,
      String(Math.round(1000 / took.p50)),
      isCounted ? `${more.toFixed(0)} %` : '',
      String(took.n),
    ];
  });
  return table(['segment', '', 'µs, one core', '1000 packets/s', 'more', 'n'], rows);
}
