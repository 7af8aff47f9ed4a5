import { compareDaemons, type Task } from '../bgp/compare-daemons.ts';
import { machineText } from '../machine.ts';
import { type SessionsReport, type SessionsRun, sessionsTask } from './measure-sessions.ts';

/** The report as Markdown. */
export function describeSessions(report: SessionsReport): string {
  return [machineText(report), sessionsTable(report)].join('\n\n');
}

/** All daemons, both hold times. */
export function sessionsTable({ runs, failures, sessions }: SessionsReport): string {
  const holdTimes = [...new Set(runs.map(({ holdTime }) => holdTime))];
  const tasks = holdTimes.map(
    (holdTime): Task<SessionsRun> => ({
      what: sessionsTask(sessions, holdTime),
      runs: runs.filter((run) => run.holdTime === holdTime),
    }),
  );
  return compareDaemons(tasks, failures, [
    { title: 'all s', of: ({ all }) => all, places: 2, hasRange: true, hasRatio: true },
    { title: 'half s', of: ({ half }) => half, places: 2 },
    { title: 'CPU s', of: ({ cpu }) => cpu, places: 2, hasRange: true, hasRatio: true },
    { title: 'peak MiB', of: (run) => run.peakMiB, places: 0, hasRange: true, hasRatio: true },
    { title: 'at rest MiB', of: ({ restMiB }) => restMiB, places: 0 },
    {
      title: '% of a core at rest',
      of: ({ restPercent }) => restPercent,
      places: 2,
      hasRange: true,
      hasRatio: true,
    },
  ]);
}
