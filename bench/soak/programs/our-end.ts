/** One end of our BFD sessions, as both daemons have it: the engine in a thread of its own, started from this file. */
import { EventEmitter, once } from 'node:events';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { linuxUdpSockets, raiseCallingThread } from '@bgp-lb/linux';
import type { BfdState } from '@bgp-lb/protocol';
import {
  BFD_WORKER,
  type BfdScheduling,
  type BfdSessionOptions,
  BfdThread,
  runBfdWorker,
} from '@bgp-lb/protocol/node';
import * as load from './table-load.ts';

/** Set in the environment of a thread that is to stay an ordinary one, as where CAP_SYS_NICE is missing. */
const ordinaryVariable = 'BGP_LB_SOAK_ORDINARY';

if (!isMainThread && workerData === BFD_WORKER && parentPort !== null) {
  const ordinary: BfdScheduling = { policy: 'ordinary', value: 0, refusals: [] };
  runBfdWorker(parentPort, linuxUdpSockets, () =>
    process.env[ordinaryVariable] === undefined
      ? raiseCallingThread({ fifoPriority: 10, nice: -15 })
      : ordinary,
  );
}

/** What this end counted since it was started. */
export interface OurCounts {
  /** How often a session left Up by a failure. */
  readonly failures: number;
  /** Detection Times that had run out only because the thread was late: the packets were there. */
  readonly averted: number;
  readonly load: load.LoadFigures;
}

const states = new Map<string, BfdState>();
const problems: string[] = [];
const told = new EventEmitter();
let scheduling: BfdScheduling | undefined;
const thread = new BfdThread({
  entry: new URL(import.meta.url),
  handlers: {
    started(how) {
      scheduling = how;
      told.emit('told');
    },
    changed({ id, to }) {
      states.set(id, to);
      told.emit('told');
    },
    refused: (id, message) => problems.push(`${id}: ${message}`),
    failed: (error) => problems.push(error.message),
  },
});

/** Begins the sessions; resolves with how the thread is scheduled. */
export async function add({
  sessions,
  isOrdinary,
}: {
  readonly sessions: readonly BfdSessionOptions[];
  readonly isOrdinary: boolean;
}): Promise<BfdScheduling> {
  if (isOrdinary) process.env[ordinaryVariable] = 'yes';
  for (const session of sessions) thread.add(session);
  while (scheduling === undefined) await once(told, 'told');
  return scheduling;
}

/** Resolves once so many sessions are Up at the same time. */
export async function allUp(count: number): Promise<void> {
  while ([...states.values()].filter((state) => state === 'Up').length < count) await once(told, 'told');
}

/** Rejects when anything went wrong that is no matter of timing. */
export async function counts(): Promise<OurCounts> {
  if (problems.length > 0) throw new Error(problems.join('; '));
  const { sessions } = await thread.status();
  const sum = (name: 'failures' | 'averted'): number =>
    sessions.reduce((total, { counters }) => total + counters[name], 0);
  return { failures: sum('failures'), averted: sum('averted'), load: load.figures() };
}

/** Begins or ends the load of the main thread. */
export function setLoad(isWanted: boolean): void {
  if (isWanted) load.begin();
  else load.end();
}
