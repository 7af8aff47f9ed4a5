/** The report as text, for a terminal and for docs/benchmarks*.md. */

import { failureText } from '../attempts.ts';
import { machineText } from '../machine.ts';
import { table } from '../table.ts';
import type { SpeakerReport } from './measure-speaker.ts';

/** The whole report. */
export function describeSpeaker(report: SpeakerReport): string {
  return [
    machineText(report),
    `Load after it ${report.loadAfter.join(' ')}. Milliseconds from the event on the master to the notification of the ` +
      "load balancer's kernel:",
    speakerTable(report),
    ...failureText(report.failures),
  ].join('\n\n');
}

/** All events. */
export function speakerTable({ results }: SpeakerReport): string {
  return table(
    ['event', 'p50', 'min', 'max', 'n', 'missed'],
    results.map(({ event, took, missed }) => [
      event,
      ...(took === undefined ? ['', '', ''] : [took.p50, took.min, took.max].map((ms) => ms.toFixed(1))),
      String(took?.n ?? 0),
      String(missed),
    ]),
  );
}
