/** A step as a process of its own: neither its heap nor its end have a part in the next one. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Step, StepEnd } from './run-all.ts';

let running: ChildProcess | undefined;

/** Ends what runs, which removes its lab. For the end of this process by a signal. */
export function endStep(): void {
  running?.kill('SIGTERM');
}

/** The exit status of a benchmark that recorded its report, with failures in it. */
export const exitWithFailures = 3;

/** Resolves when the process has ended. @param failures reads them from the report that the step recorded */
export async function runStep(
  { argv, mostMinutes }: Step,
  failures: () => StepEnd['failures'],
): Promise<StepEnd> {
  // The tables are in the documentation afterwards.
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'ignore', 'inherit'] });
  running = child;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGTERM');
  }, mostMinutes * 60_000);
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    if (isLate) return { fault: `ended after ${mostMinutes} minutes`, failures: [] };
    if (code === 0) return { fault: undefined, failures: [] };
    if (code === exitWithFailures) return { fault: undefined, failures: failures() };
    return { fault: code === null ? `ended by ${signal}` : `exit status ${code}`, failures: [] };
  } finally {
    clearTimeout(timer);
    running = undefined;
  }
}
