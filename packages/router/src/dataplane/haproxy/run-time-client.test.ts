import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { RunTimeClient } from './run-time-client.ts';

/** Far more than a busy machine takes to have the command at the server (ms). */
const LIMIT = 1500;
/** Steps of the exchange. The server has the command; this thread stalls; the answer is sent. */
const [ASKED, STALLED, ANSWERED] = [1, 2, 3];

/** Answers while the other thread stalls. */
const server = `
const { createServer } = require('node:net');
const { parentPort, workerData: { path, step } } = require('node:worker_threads');
const say = (value) => { Atomics.store(step, 0, value); Atomics.notify(step, 0); };
createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('end', () => {
    say(${ASKED});
    Atomics.wait(step, 0, ${ASKED});
    socket.end('2.6.12\\n', () => say(${ANSWERED}));
  }).resume();
}).listen(path, () => parentPort.postMessage('ready'));
`;

it('takes an answer that came in time, although a stall of its own thread has outlived the time limit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-run-time-'));
  const path = join(folder, 'haproxy.sock');
  const step = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(server, { eval: true, workerData: { path, step } });
  try {
    await new Promise((resolve) => worker.once('message', resolve));
    const begun = performance.now();
    const answer = new RunTimeClient(path, LIMIT).ask('show version');
    while (Atomics.load(step, 0) !== ASKED) await setImmediate();
    Atomics.store(step, 0, STALLED);
    Atomics.notify(step, 0);
    Atomics.wait(step, 0, STALLED);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, begun + LIMIT + 50 - performance.now());
    expect(await answer).toBe('2.6.12');
  } finally {
    await worker.terminate();
    rmSync(folder, { recursive: true });
  }
});
