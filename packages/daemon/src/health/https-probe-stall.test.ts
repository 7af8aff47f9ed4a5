import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { makeAuthority, sign } from '../testing/test-certificates.ts';
import { HttpsProbe } from './https-probe.ts';

const authority = makeAuthority('kubernetes');
const pair = sign(authority, { altNames: 'DNS:kubernetes' });

/** A server in a thread of its own: it answers while this one hangs. */
const program = `
const { createServer } = require('node:https');
const { parentPort, workerData } = require('node:worker_threads');
const server = createServer(workerData, (request, response) => response.end('ok'));
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

it('reads an answer that came in time, though this process hung past the deadline', async () => {
  const worker = new Worker(program, { eval: true, workerData: { ...pair } });
  open.push(() => worker.terminate());
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const probe = new HttpsProbe({
    address: '127.0.0.1',
    port,
    serverName: 'kubernetes',
    path: '/readyz',
    ca: () => authority.cert,
    timeoutMs: 2000,
    keepAlive: true,
  });
  open.push(() => probe.close());
  expect((await probe.probe()).kind).toBe('ok');
  const running = probe.probe();
  // The request is on its way on the connection that is there.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  expect((await running).kind).toBe('ok');
});
