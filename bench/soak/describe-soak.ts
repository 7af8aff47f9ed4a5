/** The report as text, for a terminal and for docs/benchmarks*.md. */
import { table } from '../table.ts';
import type { SoakReport } from './measure-soak.ts';

/** The whole report. */
export function describeSoak(report: SoakReport): string {
  const { machine, sessions, interval, minutes, limit, load } = report;
  return [
    `Linux ${machine.kernel}, ${machine.cores} x ${machine.cpu}, ${machine.memoryGiB} GiB; load before the run ` +
      `${machine.loadBefore.join(' ')}.\nbgp-lb at commit ${machine.commit} on Node.js ${machine.node}, FRR ` +
      `${machine.frr ?? 'not installed'}, BIRD ${machine.bird ?? 'not installed'}.`,
    `${sessions} sessions at ${interval} ms x 3 of each implementation with itself, ${minutes} minutes, two busy ` +
      `loops, and the table load in the main thread of one of our ends: ${load.updates} UPDATEs in all, ` +
      `${Math.round(load.longestBlock)} ms at most without a look at the event loop.`,
    resultTable(report),
    `The controls only sleep 10 ms at a time. A sleep that ends more than ${limit} ms late is one that a BFD end ` +
      'could not survive.',
    controlTable(report),
    'At rest (no busy loops, no load), one end, in percent of a core:',
    restTable(report),
  ].join('\n\n');
}

function resultTable({ results, averted }: SoakReport): string {
  return table(
    ['implementation', 'scheduling', 'false alarms', 'averted', 'counted of a stall on purpose'],
    results.map(({ name, scheduling, falseAlarms, alarmsOfProof }) => [
      name,
      scheduling,
      String(falseAlarms),
      name === 'bgp-lb' ? String(averted) : '',
      String(alarmsOfProof),
    ]),
  );
}

function controlTable({ controls, limit }: SoakReport): string {
  return table(
    ['control', 'sleeps', `over ${limit} ms late`, 'latest, in ms'],
    controls.map(({ scheduling, sleeps, overLimit, greatest }) => [
      scheduling,
      String(sleeps),
      String(overLimit),
      greatest.join(' '),
    ]),
  );
}

function restTable({ rest }: SoakReport): string {
  const columns = [...new Set(rest.map(({ sessions, interval }) => `${sessions} at ${interval} ms`))];
  const names = [...new Set(rest.map(({ name }) => name))];
  return table(
    ['implementation', ...columns],
    names.map((name) => [
      name,
      ...columns.map((column) => {
        const found = rest.find(
          (each) => each.name === name && `${each.sessions} at ${each.interval} ms` === column,
        );
        return found === undefined ? '' : found.cpuPercent.toFixed(1);
      }),
    ]),
  );
}
