import { compareDaemons } from '../bgp/compare-daemons.ts';
import { machineLine } from '../machine.ts';
import type { SessionsReport } from './measure-sessions.ts';

/** The report as Markdown. */
export function describeSessions(report: SessionsReport): string {
  const holdTimes = [...new Set(report.runs.map(({ holdTime }) => holdTime))];
  return [
    machineLine(report),
    ...holdTimes.map((holdTime) => describeHoldTime(report, holdTime)),
    ...report.failures.map(({ daemon, what, reason }) => `${daemon}, ${what}: ${reason}`),
  ].join('\n\n');
}

function describeHoldTime({ runs, sessions, rest }: SessionsReport, holdTime: number): string {
  return [
    `${sessions} sessions with a hold time of ${holdTime} s, at rest over ${rest} s:`,
    compareDaemons(
      runs.filter((run) => run.holdTime === holdTime),
      [
        { title: 'half s', of: ({ half }) => half, places: 2 },
        { title: 'all s', of: ({ all }) => all, places: 2, hasRange: true, hasRatio: true },
        { title: 'CPU s', of: ({ cpu }) => cpu, places: 2, hasRatio: true },
        { title: 'peak MiB', of: (run) => run.peakMiB, places: 0 },
        { title: 'at rest MiB', of: ({ restMiB }) => restMiB, places: 0, hasRatio: true },
        { title: '% of a core', of: ({ restPercent }) => restPercent, places: 1, hasRatio: true },
      ],
    ),
  ].join('\n\n');
}
