/** The report as text, for a terminal and for docs/benchmarks.md. */
import type { Summary } from '../statistics.ts';
import { table } from '../table.ts';
import type { DeathReport } from './measure-death.ts';

/** The whole report. */
export function describeDeath(report: DeathReport): string {
  const { machine, results, killedSpeakers: killed } = report;
  return [
    `Linux ${machine.kernel}, ${machine.cores} x ${machine.cpu}, ${machine.memoryGiB} GiB; load before the run ` +
      `${machine.loadBefore.join(' ')}; niceness ${machine.niceness}.\nbgp-lb at commit ${machine.commit} on Node.js ` +
      `${machine.node}, FRR ${machine.frr ?? 'not installed'}, BIRD ${machine.bird ?? 'not installed'}.`,
    `${report.deaths} deaths of each kind, in ${Math.round(report.tookMs / 1000)} s. Milliseconds from the cut until ` +
      'the next hop is gone from the kernel, and until every new client is served, of whom one comes each 5 ms. ' +
      'After a link down all next hops are gone.',
    table(
      ['death', 'daemon', 'gone p50', 'gone max', 'n', 'missed', 'served p50', 'served max'],
      results.map(({ kind, daemon, gone, served, missed }) => [
        kind,
        daemon,
        ...pair(gone),
        String(gone?.n ?? 0),
        String(missed),
        ...pair(served),
      ]),
    ),
    `${killed.killed} speakers killed (kill -9) with BFD 50 ms x 3 and started again: ${killed.lost} next hops lost, ` +
      `${killed.broken} of ${killed.connections} connections broken, ${killed.failed} of ${killed.requests} requests ` +
      'failed.',
  ].join('\n\n');
}

const pair = (summary: Summary | undefined): [string, string] =>
  summary === undefined ? ['', ''] : [summary.p50.toFixed(1), summary.max.toFixed(1)];
