/**
 * A program that a `BfdThread` of a test starts: 10.0.0.1, with a peer at 10.0.0.2 on a wire inside of the thread.
 * A session named `deadly` ends it, and one named `silent` with the exit code 3.
 */
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { BfdEngine } from '../bfd-engine.ts';
import type { BfdRequest } from '../bfd-message.ts';
import { BFD_WORKER } from '../bfd-thread.ts';
import { runBfdWorker } from '../bfd-worker.ts';
import { BfdWire, fastTiming } from './bfd-wire.ts';

if (!isMainThread && workerData === BFD_WORKER && parentPort !== null) {
  const wire = new BfdWire();
  parentPort.on('message', (request: BfdRequest) => {
    if (request.type !== 'add') return;
    if (request.session.id === 'deadly') throw new Error('a session of death');
    if (request.session.id === 'silent') process.exit(3);
  });
  runBfdWorker(
    parentPort,
    wire.sockets('10.0.0.1'),
    () => ({ policy: 'fifo', value: 10, refusals: [] }),
    60_000,
  );
  const handlers = { changed: () => undefined, removed: () => undefined };
  const peer = new BfdEngine({ sockets: wire.sockets('10.0.0.2'), handlers });
  peer.add({ id: 'peer', remoteAddress: '10.0.0.1', ...fastTiming });
}
