import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node';
import type { TestReport } from '../scripts/test-report.ts';

/** Counts tests by outcome and keeps the note of each skip. */
export default class CountingReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly Failure[],
    _reason: TestRunEndReason,
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const withState = (state: string): TestCase[] => tests.filter((test) => test.result().state === state);
    const report: TestReport = {
      passed: withState('passed').length,
      failed: withState('failed').map((test) => `${test.fullName}: ${reasonOf(test)}`),
      skipped: [...withState('skipped'), ...withState('pending')].map((test) => ({
        name: test.fullName,
        note: noteOf(test),
      })),
      files: modules.map((module) => ({
        suite: module.project.name,
        name: module.relativeModuleId,
        seconds: secondsOf(module),
      })),
      errors: [
        ...unhandled.map(messageOf),
        ...modules.flatMap((module) =>
          module.errors().map((error) => `${module.moduleId}: ${messageOf(error)}`),
        ),
      ],
    };
    const file = process.env['TEST_REPORT_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(report));
  }
}

function secondsOf(module: TestModule): number {
  const { collectDuration, setupDuration, prepareDuration, environmentSetupDuration, duration } =
    module.diagnostic();
  return (collectDuration + setupDuration + prepareDuration + environmentSetupDuration + duration) / 1000;
}

interface Failure {
  readonly message: string;
  readonly cause?: unknown;
}

/** Enough of the reason to know where to look, on one line: the end of a log is all that some see of a run. */
function reasonOf(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  return error === undefined ? 'no reason given' : messageOf(error);
}

function messageOf({ message, cause }: Failure): string {
  const inner = cause instanceof Object && 'message' in cause ? ` (${String(cause.message)})` : '';
  return `${message}${inner}`.replace(/\s+/g, ' ').slice(0, 400);
}

function noteOf(test: TestCase): string {
  const result = test.result();
  return 'note' in result && result.note !== undefined ? result.note : '';
}
