/** The thread that fuzzes: batch after batch until the time is over. The other one watches it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { runBatch } from './batch.ts';
import type { FuzzReport, FuzzTask } from './task.ts';

const { seed, milliseconds, current }: FuzzTask = workerData;
const words = new Int32Array(current, 0, 2);
const octets = new Uint8Array(current, 8);

function announce(bytes: Uint8Array): void {
  octets.set(bytes.subarray(0, octets.length));
  Atomics.store(words, 1, Math.min(bytes.length, octets.length));
  Atomics.add(words, 0, 1);
}

/** In MiB, after a full collection. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function run(): FuzzReport {
  const end = performance.now() + milliseconds;
  const total = { inputs: 0, batches: 0, read: 0, refused: 0 };
  let first = 0;
  let finding: string | undefined;
  while (finding === undefined && (performance.now() < end || total.batches === 0)) {
    const result = runBatch(seed + total.batches, announce);
    total.inputs += result.inputs;
    total.read += result.read;
    total.refused += result.refused;
    total.batches += 1;
    // By then everything has been loaded and compiled.
    if (total.batches === 5) first = heapUsed();
    if (result.finding !== undefined) {
      const { bytes, context, error } = result.finding;
      const families = (list: readonly { readonly name: string }[]): string =>
        list.map(({ name }) => name).join();
      const { asn4, isInternal, maxReceiveLength, addPathReceive } = context;
      finding = [
        `seed ${result.finding.seed}: ${error instanceof Error ? error.stack : String(error)}`,
        `session: asn4 ${asn4}, internal ${isInternal}, at most ${maxReceiveLength} octets, ADD-PATH for [${families(addPathReceive)}]`,
        `octets: ${Buffer.from(bytes).toString('hex')}`,
      ].join('\n');
    }
  }
  return { ...total, heap: [first, heapUsed()], finding };
}

parentPort?.postMessage(run());
