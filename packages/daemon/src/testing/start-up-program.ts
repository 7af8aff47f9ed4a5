/**
 * A program with much code that only its start runs. Prints a JSON line: octets of V8's bytecode and the like before the start's
 * memory is given back, and after, and whether the code still works.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { giveBackStartUpMemory, preferSmallHeap } from '../process/small-heap.ts';

preferSmallHeap();
const count = 2_000;
const texts = Array.from(
  { length: count },
  (_, n) => `(x) => { let y = x; y += ${n}; y *= 2; y -= x; return [y, { y, n: ${n} }]; }`,
);
const functions: ((x: number) => [number, unknown])[] = runInThisContext(`[${texts.join()}]`);
const run = (): number => functions.reduce((sum, one) => sum + one(1)[0], 0);
const expected = run();

const before = bytecode();
let collections = 0;
giveBackStartUpMemory(() => {
  collections += 1;
}, [1, 20]);
while (collections < 2) await sleep(5);
const after = bytecode();
process.stdout.write(`${JSON.stringify({ before, after, works: run() === expected })}\n`);

/** Octets in the space that bytecode is in. */
function bytecode(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'trusted_space');
  if (space === undefined) throw new Error('V8 has no trusted space');
  return space.space_used_size;
}
