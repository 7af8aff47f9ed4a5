/** All benchmarks one after another. One that fails takes nothing from the others. */
import type { Failure } from '../attempts.ts';

/** A benchmark, or what has to be made for one. */
export interface Step {
  readonly name: string;
  /** The program and its arguments, for Node.js. */
  readonly argv: readonly string[];
  /** It is ended after so many minutes: several times what it takes on a slow machine. */
  readonly mostMinutes: number;
}

/** How a step ended. */
export interface StepEnd {
  /** Undefined when it ended by itself with status 0; else words for people. */
  readonly fault: string | undefined;
  /** What failed in a step that went on. */
  readonly failures: readonly Failure[];
}

/** Runs every step, whatever became of those before. @returns what failed, one line each; none when all is well */
export async function runAll(
  steps: readonly Step[],
  run: (step: Step) => Promise<StepEnd>,
  progress: (line: string) => void,
): Promise<string[]> {
  const faults: string[] = [];
  for (const [n, step] of steps.entries()) {
    progress(`== ${step.name} (${n + 1} of ${steps.length})`);
    const { fault, failures } = await run(step).catch(
      (error: unknown): StepEnd => ({ fault: String(error), failures: [] }),
    );
    if (fault !== undefined) faults.push(`${step.name}: ${fault}`);
    for (const { daemon, what, reason, moreThan } of failures) {
      // Who is too slow is a result: it is in the table.
      if (moreThan === undefined) faults.push(`${step.name}: ${daemon}, ${what}: ${reason}`);
    }
  }
  return faults;
}
