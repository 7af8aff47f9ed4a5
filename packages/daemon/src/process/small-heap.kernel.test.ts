import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../testing/garbage-program.ts', import.meta.url));

it('keeps a real-time thread that collects garbage from spinning until an ordinary thread has helped', async () => {
  const { stdout } = await promisify(execFile)('taskset', ['--cpu-list', '0', process.execPath, program]);
  const { collections, turnsPerCall } = JSON.parse(stdout);
  expect(collections).toBeGreaterThanOrEqual(4);
  // Two or three with the messages of the collector. A thread that spins has hundreds.
  expect(turnsPerCall).toBeLessThan(20);
});

it('gives back code that only the start has run, which works all the same when it is called again', async () => {
  const startUp = fileURLToPath(new URL('../testing/start-up-program.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [startUp]);
  const { before, after, works } = JSON.parse(stdout);
  expect(works).toBe(true);
  // 2,000 functions of some 200 octets each, and what Node.js ran for its own start.
  expect(before - after).toBeGreaterThan(300_000);
});
