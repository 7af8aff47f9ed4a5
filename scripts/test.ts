/**
 * `npm test`: lint, types, generated files, dead code, then every test there is. Each check counts as one. `npm test -- FILE...`
 * runs the test files whose paths have one of these words in them, of whatever suite, and nothing else.
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
/** One run of vitest for each; the suites of one run share its workers. */
const runs = [['unit', 'property'], ['kernel'], ['interop', 'e2e'], ['timed'], ['compose']] as const;
const slowest = 10;
const files = process.argv.slice(2);

let passed = 0;
const durations: { name: string; seconds: number }[] = [];
const failed: string[] = [];
const skipped: { name: string; why: string }[] = [];

function run(command: readonly string[], env: NodeJS.ProcessEnv = process.env): number {
  const [program = '', ...args] = command;
  const result = spawnSync(program, args, { cwd: root, stdio: 'inherit', env });
  if (result.error !== undefined) console.error(`${program}: ${result.error.message}`);
  return result.status ?? 1;
}

for (const [name, ...command] of files.length > 0 ? [] : checks) {
  console.log(`\n== ${name}`);
  if (run(command) === 0) passed += 1;
  else failed.push(name);
}

const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-test-'));
try {
  if (files.length > 0) runTests(files.join(' '), files, []);
  else
    for (const suites of runs)
      runTests(
        suites.join(' and '),
        suites.flatMap((suite) => ['--project', suite]),
        suites,
      );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

if (files.length === 0) {
  durations.sort((a, b) => b.seconds - a.seconds);
  console.log(`\nthe ${slowest} slowest of ${durations.length} files:`);
  for (const { name, seconds } of durations.slice(0, slowest)) {
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`);
  }
}
for (const name of failed) console.log(`failed: ${name}`);
for (const { name, why } of skipped) console.log(`skipped: ${name}: ${why}`);
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exit(failed.length === 0 ? 0 : 1);

/** Runs the tests that vitest's arguments choose. @param suites those that must have tests among them */
function runTests(title: string, chosen: readonly string[], suites: readonly string[]): void {
  console.log(`\n== tests: ${title}`);
  const file = join(folder, `${title.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 100)}.json`);
  const since = performance.now();
  const status = run(['vitest', 'run', ...chosen, '--reporter=default', '--reporter=./test/reporter.ts'], {
    ...process.env,
    TEST_REPORT_FILE: file,
  });
  console.log(`${title}: ${Math.round((performance.now() - since) / 1000)} s`);
  take(title, suites, status, readReport(file));
}

function readReport(file: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport;
  } catch {
    return undefined;
  }
}

/** Adds one run's outcome to the totals. A run that left no report, or ended badly without a failed test, has failed. */
function take(
  title: string,
  suites: readonly string[],
  status: number,
  report: TestReport | undefined,
): void {
  if (report === undefined) {
    failed.push(`${title}: no report (exit ${status})`);
    return;
  }
  passed += report.passed;
  durations.push(...report.files);
  failed.push(...report.failed, ...report.errors.map((error) => `${title}: ${error}`));
  if (status !== 0 && report.failed.length + report.errors.length === 0)
    failed.push(`${title}: exit ${status}`);
  if (report.passed + report.failed.length + report.skipped.length === 0)
    failed.push(`${title}: no test ran`);
  for (const suite of suites)
    if (!report.files.some((file) => file.suite === suite)) failed.push(`${suite}: no file ran`);
  for (const { name, note } of report.skipped) {
    const reason = optional.find(({ id }) => note === `optional: ${id}`);
    if (reason === undefined)
      failed.push(`${name}: skipped without leave (${note === '' ? 'no reason given' : note})`);
    else skipped.push({ name, why: reason.why });
  }
}
