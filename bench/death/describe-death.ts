/** The report as text, for a terminal and for docs/benchmarks*.md. */

import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import { ofFrr, type Summary } from '../statistics.ts';
import { table } from '../table.ts';
import type { DeathReport } from './measure-death.ts';

/** The whole report. */
export function describeDeath(report: DeathReport): string {
  return [
    machineText(report),
    'Milliseconds from the cut until the next hop is gone from the kernel, and until every new client is served, of whom ' +
      'one comes each 5 ms. After a link down all next hops are gone.',
    deathTable(report),
    'Speakers killed (kill -9) with BFD 50 ms x 3 and started again:',
    killedTable(report),
    ...failureText(report.failures),
  ].join('\n\n');
}

/** All daemons and kinds of death. */
export function deathTable({ results }: DeathReport): string {
  const frr = (kind: string): number | undefined =>
    results.find((one) => one.daemon === 'FRR' && one.kind === kind)?.gone?.p50;
  const rows = results
    .toSorted((a, b) => kindOrder(results, a.kind) - kindOrder(results, b.kind))
    .map(({ kind, daemon, gone, served, missed }) => [
      kind,
      daemon,
      spread(gone),
      ofFrr(gone?.p50, frr(kind)),
      spread(served),
      String(gone?.n ?? 0),
      String(missed),
    ]);
  const head = [
    'death',
    'daemon',
    'next hop gone, ms',
    'of FRR',
    'all new clients served, ms',
    'n',
    'missed',
  ];
  return table(head, rows);
}

function kindOrder(results: DeathReport['results'], kind: string): number {
  return [...new Set(results.map((one) => one.kind))].indexOf(kind as (typeof results)[number]['kind']);
}

/** Speakers that die and are no death of their masters. */
export function killedTable({ killedSpeakers: killed }: DeathReport): string {
  if (killed === undefined) return 'Not measured.';
  const of = (part: number, all: number): string => `${part} of ${all}`;
  return table(
    ['speakers killed', 'next hops lost', 'connections broken', 'requests failed'],
    [
      [
        String(killed.killed),
        String(killed.lost),
        of(killed.broken, killed.connections),
        of(killed.failed, killed.requests),
      ],
    ],
  );
}

const spread = (summary: Summary | undefined): string =>
  summary === undefined
    ? ''
    : `${summary.p50.toFixed(1)} (${summary.min.toFixed(1)} to ${summary.max.toFixed(1)})`;
