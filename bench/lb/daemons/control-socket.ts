/** When a daemon that is being started can be talked to. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostProcess } from '../../../scripts/lab/host-process.ts';

/** Milliseconds between two looks. */
const interval = 2;
const patience = 15_000;

/**
 * Waits until `answers` is true; resolves with the milliseconds since `since` (performance.now()). Rejects with the end
 * of the log when the process ends or takes too long.
 */
export async function timeUntil(
  process: HostProcess,
  answers: () => Promise<boolean>,
  since: number,
): Promise<number> {
  while (!(await answers())) {
    if (!process.isRunning || performance.now() - since > patience) {
      const what = process.isRunning ? `does not answer within ${patience} ms` : 'ended';
      throw new Error(`${process.name} ${what}:\n${process.tail()}`);
    }
    await sleep(interval);
  }
  return performance.now() - since;
}

/** True when `GET /healthz` on a Unix socket gives 200. */
export function isHealthy(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = request({ socketPath, path: '/healthz', agent: false }, (answer) => {
      answer.resume();
      answer.once('end', () => resolve(answer.statusCode === 200));
    });
    probe.once('error', () => resolve(false));
    probe.end();
  });
}

/** True when something accepts connections on a Unix socket. */
export function accepts(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
