import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

/** Runs a script on scheduling.ts in a process of its own, under a launcher. @returns what it printed as JSON */
function run(body: string, ...launcher: readonly string[]): unknown {
  const module = new URL('./scheduling.ts', import.meta.url).href;
  const script = `import * as scheduling from ${JSON.stringify(module)};\n${body}`;
  const command = [...launcher, process.execPath, '--input-type=module', '-e', script];
  const [program = '', ...argv] = command;
  return JSON.parse(
    execFileSync(program, argv, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }),
  );
}

const raise = `
  import { readFileSync } from 'node:fs';
  import { Worker, isMainThread } from 'node:worker_threads';
  const got = scheduling.raiseCallingThread({ fifoPriority: 10, nice: -15 });
  // Fields 18 (nice), 41 (policy) of /proc/thread-self/stat, counted after the name in parentheses.
  const fields = readFileSync('/proc/thread-self/stat', 'utf8').replace(/^.*\\) /, '').split(' ');
  console.log(JSON.stringify({ got, nice: Number(fields[16]), policy: Number(fields[38]) }));
`;

describe('the scheduling of a thread', () => {
  it('becomes SCHED_FIFO where the kernel allows it, and the result tells what the kernel has', () => {
    const seen = run(raise) as {
      got: { policy: string; value: number; refusals: readonly { code: string }[] };
      policy: number;
    };
    if (seen.got.policy === 'fifo') {
      expect(seen).toMatchObject({ got: { value: 10, refusals: [] }, policy: 1 });
    } else {
      // CONFIG_RT_GROUP_SCHED refuses it in a cgroup without real-time budget, also to root.
      expect(seen).toMatchObject({
        got: { policy: 'nice', value: -15, refusals: [{ code: 'EPERM' }] },
      });
    }
  });

  it('is ordinary without CAP_SYS_NICE, and both refusals are told', () => {
    const seen = run(raise, 'setpriv', '--bounding-set', '-sys_nice', '--inh-caps', '-sys_nice');
    expect(seen).toMatchObject({
      got: {
        policy: 'ordinary',
        value: 0,
        refusals: [
          { wanted: 'fifo', code: 'EPERM' },
          { wanted: 'nice', code: 'EACCES' },
        ],
      },
      nice: 0,
      policy: 0,
    });
  });

  it('of one thread is not that of the others', () => {
    const seen = run(`
      import { readFileSync } from 'node:fs';
      import { Worker } from 'node:worker_threads';
      const source = ${JSON.stringify(`
        import { readFileSync } from 'node:fs';
        import { parentPort, workerData } from 'node:worker_threads';
        const scheduling = await import(workerData);
        scheduling.raiseCallingThread({ fifoPriority: 10, nice: -15 });
        parentPort.postMessage(readFileSync('/proc/thread-self/stat', 'utf8').replace(/^.*\\) /, '').split(' ')[15]);
      `)};
      const url = new URL('data:text/javascript,' + encodeURIComponent(source));
      const worker = new Worker(url, { workerData: ${JSON.stringify(new URL('./scheduling.ts', import.meta.url).href)} });
      const inWorker = await new Promise((resolve, reject) => { worker.on('message', resolve); worker.on('error', reject); });
      const priorityOf = (text) => Number(text.replace(/^.*\\) /, '').split(' ')[15]);
      console.log(JSON.stringify({ worker: Number(inWorker), main: priorityOf(readFileSync('/proc/self/stat', 'utf8')) }));
    `) as { worker: number; main: number };
    // Field 18 of stat is the kernel's own priority: 20 + nice, or -1 - the SCHED_FIFO priority.
    expect(seen.main).toBe(20);
    expect([5, -11]).toContain(seen.worker);
  });

  it.each([
    ['{ fifoPriority: 0, nice: 0 }', 'SCHED_FIFO priority: 0; allowed are 1 to 99'],
    ['{ fifoPriority: 10, nice: -21 }', 'nice value: -21; allowed are -20 to 19'],
  ])('cannot be %s', (request, message) => {
    const body = `try { scheduling.raiseCallingThread(${request}); } catch (error) { console.log(JSON.stringify(error.message)); }`;
    expect(run(body)).toBe(message);
  });
});
