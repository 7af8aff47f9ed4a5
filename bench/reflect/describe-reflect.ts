import { compareDaemons } from '../bgp/compare-daemons.ts';
import { machineLine } from '../machine.ts';
import type { ReflectReport } from './measure-reflect.ts';

/** The report as Markdown. */
export function describeReflect(report: ReflectReport): string {
  const { prefixes, receivers, sentUpdates, runs, failures } = report;
  return [
    machineLine(report),
    `${prefixes} prefixes in ${sentUpdates} UPDATEs from one client to ${receivers} others:`,
    compareDaemons(runs, [
      { title: 'wall s', of: ({ wall }) => wall, places: 2, hasRange: true, hasRatio: true },
      { title: 'first client s', of: ({ firstClient }) => firstClient, places: 2 },
      { title: 'CPU s', of: ({ cpu }) => cpu, places: 2, hasRatio: true },
      { title: 'peak MiB', of: (run) => run.peakMiB, places: 0, hasRatio: true },
      { title: 'UPDATEs to each', of: ({ updates }) => updates, places: 0 },
    ]),
    ...failures.map(({ daemon, what, reason }) => `${daemon}, ${what}: ${reason}`),
  ].join('\n\n');
}
