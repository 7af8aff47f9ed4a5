/**
 * `npm test`: lint, types, generated files, dead code, then every test there is. Each check counts as one.
 * The last line is `N passed, N failed, N skipped`. A skip that test/optional.json does not list is a failure.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestReport } from './test-report.ts';

interface Optional {
  readonly id: string;
  readonly what: string;
  readonly why: string;
}

const root = resolve(import.meta.dirname, '..');
const optional = JSON.parse(readFileSync(join(root, 'test/optional.json'), 'utf8')) as readonly Optional[];

/** Checks that are one command each. */
const checks: readonly (readonly [name: string, ...command: string[]])[] = [
  ['lint', 'biome', 'ci', '--colors=off', '.'],
  ['types', 'tsc', '-b'],
  ['dead code', 'knip', '--no-progress'],
  ['configuration docs are current', 'node', 'scripts/gen-config-docs.ts', '--check'],
  ['benchmark docs are current', 'node', 'bench/docs/main.ts', '--check'],
  ['FSM table is current', 'node', 'scripts/fsm-table.ts', '--check'],
  ['fuzz, one minute', 'node', 'test/fuzz/main.ts', '--minutes', '1'],
  ['cited RFC sections are in docs/rfc-compliance.md', 'node', 'scripts/check-rfc-citations.ts'],
];
const suites = ['unit', 'property', 'interop', 'e2e', 'compose'] as const;

let passed = 0;
const failed: string[] = [];
const skipped: { name: string; why: string }[] = [];

function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const [program = '', ...args] = command;
  const result = spawnSync(program, args, { cwd: root, stdio: 'inherit', env });
  if (result.error !== undefined) console.error(`${program}: ${result.error.message}`);
  return result.status ?? 1;
}

for (const [name, ...command] of checks) {
  console.log(`\n== ${name}`);
  if (run(command) === 0) passed += 1;
  else failed.push(name);
}

const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-test-'));
for (const suite of suites) {
  console.log(`\n== ${suite} tests`);
  const file = join(folder, `${suite}.json`);
  const status = run(
    ['vitest', 'run', '--project', suite, '--reporter=default', '--reporter=./test/reporter.ts'],
    { ...process.env, TEST_REPORT_FILE: file },
  );
  take(suite, status, readReport(file));
}
rmSync(folder, { recursive: true, force: true });

for (const name of failed) console.log(`failed: ${name}`);
for (const { name, why } of skipped) console.log(`skipped: ${name}: ${why}`);
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length === 0 ? 0 : 1);

function readReport(file: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return undefined;
  }
}

/** Adds one suite's outcome to the totals. A suite that left no report, or ended badly without a failed test, has failed. */
function take(suite: string, status: number, report: TestReport | undefined): void {
  if (report === undefined) {
    failed.push(`${suite}: no report (exit ${status})`);
    return;
  }
  passed += report.passed;
  failed.push(...report.failed, ...report.errors.map((error) => `${suite}: ${error}`));
  if (status !== 0 && report.failed.length + report.errors.length === 0)
    failed.push(`${suite}: exit ${status}`);
  if (report.passed + report.failed.length + report.skipped.length === 0)
    failed.push(`${suite}: no test ran`);
  for (const { name, note } of report.skipped) {
    const reason = optional.find(({ id }) => note === `optional: ${id}`);
    if (reason === undefined)
      failed.push(`${name}: skipped without leave (${note === '' ? 'no reason given' : note})`);
    else skipped.push({ name, why: reason.why });
  }
}
