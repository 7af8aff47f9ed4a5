import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestRunEndReason } from 'vitest/node';
import type { TestReport } from '../scripts/test-report.ts';

/** Counts tests by outcome and keeps the note of each skip. */
export default class CountingReporter implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandled: readonly { message: string }[],
    _reason: TestRunEndReason,
  ): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const withState = (state: string): TestCase[] => tests.filter((test) => test.result().state === state);
    const report: TestReport = {
      passed: withState('passed').length,
      failed: withState('failed').map((test) => test.fullName),
      skipped: [...withState('skipped'), ...withState('pending')].map((test) => ({
        name: test.fullName,
        note: noteOf(test),
      })),
      errors: [
        ...unhandled.map((error) => error.message),
        ...modules.flatMap((module) =>
          module.errors().map((error) => `${module.moduleId}: ${error.message}`),
        ),
      ],
    };
    const file = process.env['TEST_REPORT_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(report));
  }
}

function noteOf(test: TestCase): string {
  const result = test.result();
  return 'note' in result && result.note !== undefined ? result.note : '';
}
