import { describe, expect, it } from 'vitest';
import type { Failure } from '../attempts.ts';
import { runStep } from './run-step.ts';

const failure: Failure = { daemon: 'FRR', what: 'a task', reason: 'has ended' };
const run = (program: string, mostMinutes = 10) =>
  runStep({ name: 'one', argv: ['-e', program], mostMinutes }, () => [failure]);

describe('a step as a process', () => {
  it('has no fault when it ends well', async () => {
    expect(await run('')).toEqual({ fault: undefined, failures: [] });
  });

  it('has the failures of its report when it says that there are some', async () => {
    expect(await run('process.exit(3)')).toEqual({ fault: undefined, failures: [failure] });
  });

  it('has a fault when it leaves no report, or is ended by a signal', async () => {
    expect(await run('process.exit(1)')).toEqual({ fault: 'exit status 1', failures: [] });
    expect(await run("process.kill(process.pid, 'SIGKILL')")).toEqual({
      fault: 'ended by SIGKILL',
      failures: [],
    });
  });

  it('is ended when it does not end by itself', async () => {
    const mostMinutes = 1 / 60_000;
    expect(await run('setInterval(() => undefined, 1000)', mostMinutes)).toEqual({
      fault: `ended after ${mostMinutes} minutes`,
      failures: [],
    });
  });
});
