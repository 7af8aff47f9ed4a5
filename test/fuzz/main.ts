/**
 * `npm run fuzz -- --minutes N`: damaged messages against framer, codec, negotiation and RIB, until the time is over or a rule
 * is broken. The rules are in `invariants.ts`; what is fuzzed is in `mutate.ts`.
 *
 *   --minutes N  how long, parts of a minute too; default 1
 *   --seed N     where to begin; a finding names the seed that shows it again at once. Default: the time
 */
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { currentSize, type FuzzReport, type FuzzTask } from './task.ts';

/** One input may take this long, in ms, on a machine that has other work too. */
const patience = 20_000;
/** The heap may grow by so much, in MiB. */
const heapAllowance = 32;
const usage = 'usage: npm run fuzz -- [--minutes N] [--seed N]';

interface Arguments {
  readonly minutes: number;
  readonly seed: number;
}

/** Undefined when they cannot be understood. */
function readArguments(argv: string[]): Arguments | undefined {
  try {
    const { values } = parseArgs({
      args: argv,
      options: { minutes: { type: 'string', default: '1' }, seed: { type: 'string' } },
    });
    const minutes = Number(values.minutes);
    const seed = Number(values.seed ?? Date.now() % 2 ** 31);
    return minutes > 0 && Number.isInteger(seed) ? { minutes, seed } : undefined;
  } catch {
    return undefined;
  }
}

/** Runs the thread. @returns what it found, or that it hangs and on what */
function fuzz({ minutes, seed }: Arguments): Promise<FuzzReport | { readonly hangs: string }> {
  const current = new SharedArrayBuffer(8 + currentSize);
  const words = new Int32Array(current, 0, 2);
  const task: FuzzTask = { seed, milliseconds: minutes * 60_000, current };
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: task,
      // Memory without a bound ends the thread, not the machine.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    });
    let seen = -1;
    const watch = setInterval(() => {
      const count = Atomics.load(words, 0);
      if (count === seen && count > 0) {
        const bytes = Buffer.from(current, 8, Atomics.load(words, 1));
        resolve({ hangs: bytes.toString('hex') });
        void worker.terminate();
      }
      seen = count;
    }, patience);
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => clearInterval(watch));
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<number> {
  const given = readArguments(process.argv.slice(2));
  if (given === undefined) {
    process.stderr.write(`${usage}\n`);
    return 2;
  }
  say(`seed ${given.seed}, ${given.minutes} min`);
  const report = await fuzz(given);
  if ('hangs' in report) {
    say(`an input takes more than ${patience / 1000} s: ${report.hangs}`);
    return 1;
  }
  const { inputs, batches, read, refused, finding } = report;
  const [first, last] = report.heap.map((size) => Math.round(size * 10) / 10);
  say(
    `${inputs} inputs in ${batches} batches: ${read} messages read, ${refused} NOTIFICATIONs, heap ${first} to ${last} MiB`,
  );
  if (finding !== undefined) say(finding);
  const isGrown = (report.heap[0] ?? 0) > 0 && report.heap[1] - report.heap[0] > heapAllowance;
  if (isGrown) say(`the heap grew by more than ${heapAllowance} MiB`);
  return finding === undefined && !isGrown ? 0 : 1;
}

process.exitCode = await main();
