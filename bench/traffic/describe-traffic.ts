/** The report as text, for a terminal and for the documentation. */
import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import type { Summary } from '../statistics.ts';
import { table } from '../table.ts';
import type { TrafficReport, TrafficResult } from './measure-traffic.ts';

/** The whole report. */
export function describeTraffic(report: TrafficReport): string {
  return [
    `${machineText(report)}\nHAProxy ${report.haproxy ?? 'not installed'}.`,
    `New connections of 32 clients, and what they cost:\n\n${connectionTable(report)}`,
    `Answers on long connections, in ms:\n\n${answerTable(report)}`,
    `A master falls silent:\n\n${silenceTable(report)}`,
    ...failureText(report.failures),
  ].join('\n\n');
}

/** The median of the rounds and, where there are some, the range. */
function spread(summary: Summary | undefined, places = 0): string {
  if (summary === undefined) return '';
  const { p50, min, max } = summary;
  const [middle, least, most] = [p50, min, max].map((value) => value.toFixed(places));
  return least === most ? String(middle) : `${middle} (${least} to ${most})`;
}

const median = (summary: Summary | undefined): number => summary?.p50 ?? Number.NaN;

/** New connections. */
export function connectionTable({ results }: TrafficReport): string {
  const rows = results.map((one) => [
    one.contender,
    spread(one.newConnectionsPerSecond),
    String(one.failedConnections),
    spread(one.processorTime),
    one.contender === 'direct' ? '' : spread(one.ownProcessorTime),
  ]);
  const head = [
    'carried by',
    'new connections a second',
    'failed',
    'processor time of all, ms per 1000',
    "of the load balancer's processes",
  ];
  return table(head, rows);
}

/** Answers, and what is added to those of the masters themselves. */
export function answerTable({ results }: TrafficReport): string {
  const direct = results.find(({ contender }) => contender === 'direct');
  const rows = results.flatMap((one) =>
    one.latency.map(({ connections, p50, p99, failed }) => {
      const bare = direct?.latency.find((each) => each.connections === connections);
      const added = (of: Summary | undefined, from: Summary | undefined): string => {
        const value = median(of) - median(from);
        return one === direct || Number.isNaN(value) ? '' : value.toFixed(2);
      };
      return [
        String(connections),
        one.contender,
        spread(p50, 2),
        added(p50, bare?.p50),
        spread(p99, 2),
        added(p99, bare?.p99),
        String(failed),
      ];
    }),
  );
  const head = ['connections', 'carried by', 'p50', 'added', 'p99', 'added', 'failed'];
  return table(
    head,
    rows.toSorted((a, b) => Number(a[0]) - Number(b[0])),
  );
}

/** The silent death of a master. */
export function silenceTable({ results }: TrafficReport): string {
  const deaths = ({ brokenAtSurvivors }: TrafficResult): number => brokenAtSurvivors?.n ?? 0;
  const rows = results
    .filter(({ contender }) => contender !== 'direct')
    .map((one) => [
      one.contender,
      spread(one.served),
      spread(one.brokenAtSurvivors),
      spread(one.survivors),
      String(deaths(one)),
    ]);
  const head = [
    'carried by',
    'until all new clients are served, ms',
    'connections broken at survivors',
    'of',
    'deaths',
  ];
  return table(head, rows);
}
