import { parentPort } from 'node:worker_threads';
import { linuxUdpSockets, raiseCallingThread } from '@bgp-lb/linux';
import { runBfdWorker } from '@bgp-lb/protocol/node';

/** Below the kernel's interrupt threads (50), above everything ordinary. */
const SETTLED = { fifoPriority: 10, nice: -15 } as const;
const STARTING = { nice: -15 } as const;

/** What the thread of BFD does. Nothing happens on the main thread. */
export function runBfd(): void {
  if (parentPort === null) return;
  runBfdWorker(parentPort, linuxUdpSockets, (isSettled) =>
    raiseCallingThread(isSettled ? SETTLED : STARTING),
  );
}
