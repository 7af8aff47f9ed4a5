import { round, summarize } from '../statistics.ts';
import { table } from '../table.ts';
import { type DaemonName, daemonNames } from './daemons.ts';
import type { IngestReport, IngestRun } from './measure-ingest.ts';

/** The report as Markdown. */
export function describeIngest(report: IngestReport): string {
  const { machine, runs, failures, rounds, tookMs } = report;
  const sizes = [...new Set(runs.map(({ prefixes }) => prefixes))];
  const { kernel, cpu, cores, memoryGiB, node, commit, frr, bird, loadBefore, niceness } = machine;
  return [
    `Kernel ${kernel}, ${cores} cores (${cpu}), ${memoryGiB} GiB, Node.js ${node}, FRR ${frr}, BIRD ${bird}, commit ${commit}, load ${loadBefore.join(' ')} before, nice ${niceness}, ${rounds} rounds, ${Math.round(tookMs / 1000)} s`,
    ...sizes.map((prefixes) => describeSize(report, prefixes)),
    ...failures.map(({ daemon, prefixes, reason }) => `${daemon} with ${prefixes} prefixes: ${reason}`),
  ].join('\n\n');
}

function describeSize({ runs, keepaliveInterval }: IngestReport, prefixes: number): string {
  const own = runs.filter((run) => run.prefixes === prefixes);
  const feed = own[0]?.feed;
  const frr = own.filter(({ daemon }) => daemon === 'FRR');
  const rows = daemonNames
    .filter((name) => own.some(({ daemon }) => daemon === name))
    .map((name) => row(name, own, frr, keepaliveInterval));
  return [
    `${prefixes} prefixes in ${feed?.updates} UPDATEs with ${feed?.attributeSets} sets of attributes, ${feed?.bytes} octets:`,
    table(
      [
        ...['daemon', 'wall s', 'min to max', 'of FRR', 'CPU s', 'of FRR', 'peak MiB', 'of FRR'],
        ...['KEEPALIVE late, ms', 'n'],
      ],
      rows,
    ),
  ].join('\n\n');
}

function row(
  name: DaemonName,
  runs: readonly IngestRun[],
  frr: readonly IngestRun[],
  keepaliveInterval: number,
): readonly string[] {
  const own = runs.filter(({ daemon }) => daemon === name);
  const median = (of: readonly IngestRun[], field: 'wall' | 'cpu' | 'peakMiB'): number =>
    summarize(of.map((run) => run[field]))?.p50 ?? Number.NaN;
  const ratio = (field: 'wall' | 'cpu' | 'peakMiB'): string =>
    round(median(own, field) / median(frr, field), 2).toFixed(2);
  const walls = own.map(({ wall }) => wall);
  const late = Math.max(0, ...own.map(({ longestGap }) => longestGap - keepaliveInterval));
  return [
    name,
    String(round(median(own, 'wall'), 1)),
    `${round(Math.min(...walls), 1)} to ${round(Math.max(...walls), 1)}`,
    ratio('wall'),
    String(round(median(own, 'cpu'), 1)),
    ratio('cpu'),
    String(Math.round(median(own, 'peakMiB'))),
    ratio('peakMiB'),
    String(Math.round(late)),
    String(own.length),
  ];
}
