/**
 * The control: a process that only sleeps. It waits for a futex that nothing wakes (futex(2) with a timeout, by
 * `Atomics.wait`), again and again, and keeps how late the kernel let it go on. What it sees no BFD daemon of its
 * scheduling class could avoid.
 */
import { setImmediate as breathe } from 'node:timers/promises';

/** ms of one sleep. */
const sleepTime = 10;
/** Sleeps between two looks at the event loop, by which the process is asked for its figures. */
const sleepsPerTurn = 50;
const kept = 5;

/** How late the sleeps ended. */
export interface Lateness {
  readonly sleeps: number;
  /** The latest, in ms, the greatest first. */
  readonly greatest: readonly number[];
  /** How often it was later than the limit. */
  readonly overLimit: number;
}

const cell = new Int32Array(new SharedArrayBuffer(4));
let greatest: number[] = [];
let sleeps = 0;
let overLimit = 0;

/** Sleeps on and on; the figures begin again. @param limit ms */
export function begin(limit: number): void {
  void sleepOn(limit);
}

async function sleepOn(limit: number): Promise<void> {
  for (;;) {
    for (let n = 0; n < sleepsPerTurn; n += 1) {
      const since = performance.now();
      Atomics.wait(cell, 0, 0, sleepTime);
      note(performance.now() - since - sleepTime, limit);
    }
    await breathe();
  }
}

function note(late: number, limit: number): void {
  sleeps += 1;
  if (late > limit) overLimit += 1;
  if (greatest.length === kept && late <= (greatest.at(-1) ?? 0)) return;
  greatest = [...greatest, late].sort((a, b) => b - a).slice(0, kept);
}

/** What was seen so far. */
export function lateness(): Lateness {
  return { sleeps, greatest, overLimit };
}
