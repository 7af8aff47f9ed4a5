import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = fileURLToPath(new URL('../testing/garbage-program.ts', import.meta.url));
/** What V8's threads do besides collecting: compile. */
const withoutCompilers = ['--no-opt', '--no-maglev', '--no-sparkplug'];

it('has each thread collect its garbage alone, so that none waits for a thread of lower priority', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [...withoutCompilers, program]);
  expect(JSON.parse(stdout)).toEqual({ collections: 4, wakeUps: 0 });
});
