/**
 * One end of BFD sessions in a network namespace, as a daemon has it: the file starts itself as the worker, so it can
 * be bundled into one file.
 */
import { EventEmitter, once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { linuxUdpSockets, raiseCallingThread } from '@bgp-lb/linux';
import {
  BfdClient,
  type BfdSessionOptions,
  type BfdStateChange,
  type BfdStatus,
  runBfdWorker,
} from '@bgp-lb/protocol/node';

/** The module's type, for NetworkNamespace.start. */
export type BfdEnd = typeof import('./bfd-end.ts');

/** What the thread is started with. */
const workerName = 'bfd';

if (!isMainThread && workerData === workerName && parentPort !== null) {
  runBfdWorker(parentPort, linuxUdpSockets, () => raiseCallingThread({ fifoPriority: 10, nice: -15 }));
}

const changes: BfdStateChange[] = [];
const refused: string[] = [];
const told = new EventEmitter();
let client: BfdClient | undefined;

/** The client, whose worker is started by the first call. */
export function bfd(): BfdClient {
  if (client !== undefined) return client;
  const worker = new Worker(new URL(import.meta.url), { workerData: workerName });
  const made = new BfdClient(worker, {
    ready: () => undefined,
    changed: (change) => {
      changes.push(change);
      told.emit('told');
    },
    refused: (id, message) => refused.push(`${id}: ${message}`),
  });
  worker.on('exit', () => made.lost());
  client = made;
  return made;
}

/** Begins sessions. */
export function add(sessions: readonly BfdSessionOptions[]): void {
  for (const session of sessions) bfd().add(session);
}

/** Waits until the last change of each session has this state, and gives these changes. */
export async function allIn(ids: readonly string[], state: BfdStateChange['to']): Promise<BfdStateChange[]> {
  for (;;) {
    const last = ids.flatMap((id) => changes.findLast((change) => change.id === id) ?? []);
    if (last.length === ids.length && last.every(({ to }) => to === state)) return last;
    await once(told, 'told');
  }
}

/** Every change so far that a routing protocol would act on. */
export function failures(): readonly BfdStateChange[] {
  return changes.filter(({ isFailure }) => isFailure);
}

/** Waits for so many changes that a routing protocol would act on. */
export async function failuresOf(count: number): Promise<readonly BfdStateChange[]> {
  while (failures().length < count) await once(told, 'told');
  return failures();
}

/** What could not be done. */
export function refusals(): readonly string[] {
  return refused;
}

export function status(): Promise<BfdStatus> {
  return bfd().status();
}

/** Keeps the main thread busy for so many ms. */
export function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
