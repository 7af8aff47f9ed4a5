import { parentPort, workerData } from 'node:worker_threads';
import { linuxUdpSockets, raiseCallingThread } from '@bgp-lb/linux';
import { BFD_WORKER, runBfdWorker } from '@bgp-lb/protocol/node';

/** Below the kernel's threads for interrupts (50), above everything ordinary. */
const SETTLED = { fifoPriority: 10, nice: -15 } as const;
const STARTING = { nice: -15 } as const;

/** What the thread of BFD does. It is nothing else, and on the main thread nothing happens. */
export function runBfd(): void {
  if (parentPort !== null && workerData === BFD_WORKER) {
    runBfdWorker(parentPort, linuxUdpSockets, (isSettled) =>
      raiseCallingThread(isSettled ? SETTLED : STARTING),
    );
  }
}
