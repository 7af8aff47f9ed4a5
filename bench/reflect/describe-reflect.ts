import { compareDaemons } from '../bgp/compare-daemons.ts';
import { machineText } from '../machine.ts';
import { type ReflectReport, reflectTask } from './measure-reflect.ts';

/** The report as Markdown. */
export function describeReflect(report: ReflectReport): string {
  return [
    machineText(report),
    `${report.sentUpdates} UPDATEs from the first client:`,
    reflectTable(report),
  ].join('\n\n');
}

/** All daemons. */
export function reflectTable(report: ReflectReport): string {
  const { runs, failures } = report;
  return compareDaemons([{ what: reflectTask(report), runs }], failures, [
    { title: 'wall s', of: ({ wall }) => wall, places: 2, hasRange: true, hasRatio: true },
    { title: 'first client s', of: ({ firstClient }) => firstClient, places: 2 },
    { title: 'CPU s', of: ({ cpu }) => cpu, places: 2, hasRange: true, hasRatio: true },
    { title: 'peak MiB', of: (run) => run.peakMiB, places: 0, hasRange: true, hasRatio: true },
    { title: 'UPDATEs to each', of: ({ updates }) => updates, places: 0 },
  ]);
}
