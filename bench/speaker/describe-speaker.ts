/** The report as text, for a terminal and for docs/benchmarks.md. */
import { table } from '../table.ts';
import type { SpeakerReport } from './measure-speaker.ts';

/** The whole report. */
export function describeSpeaker({ machine, rounds, results, loadAfter, tookMs }: SpeakerReport): string {
  return [
    `Linux ${machine.kernel}, ${machine.cores} x ${machine.cpu}, ${machine.memoryGiB} GiB; load before the run ` +
      `${machine.loadBefore.join(' ')}, after it ${loadAfter.join(' ')}; niceness ${machine.niceness}.\n` +
      `bgp-lb at commit ${machine.commit} on Node.js ${machine.node}.`,
    `Each ${rounds} times, in ${Math.round(tookMs / 1000)} s. Milliseconds from the event on the master to the ` +
      "notification of the load balancer's kernel.",
    table(
      ['event', 'wanted', 'p50', 'min', 'max', 'n', 'missed'],
      results.map(({ event, wanted, took, missed }) => [
        event,
        String(wanted),
        ...(took === undefined ? ['', '', ''] : [took.p50, took.min, took.max].map((ms) => ms.toFixed(1))),
        String(took?.n ?? 0),
        String(missed),
      ]),
    ),
  ].join('\n\n');
}
