import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the start at which what it left is given back: when it is over, and once more when sessions are up. */
const SETTLED_AFTER = [1_000, 15_000] as const;

/** Milliseconds after a collection in which all that a daemon at rest does was done once. */
const RECOMPILED_AFTER = 2_000;

/** Collections of the whole heap that code survives without being called. V8's own number is 6: a daemon at rest keeps all code for hours. */
const CODE_AGE = 1;

/**
 * By default V8 shares a collection out to threads of Node's that are ordinary ones, and the thread that collects waits for
 * them. To the BFD thread as SCHED_FIFO that is poison. It waits for ordinary threads that other work keeps from running
 * (90 ms were seen), and for the sweep of the C++ heap it waits by posting the same task to itself over and over: that
 * keeps the very thread it waits for, and the BFD threads of all other processes, from the processor until the kernel
 * throttles it after 950 ms. Alone a heap of this size is collected in some milliseconds.
 *
 * Only flags that are read when a heap is made (the first) or when a pause begins: V8 aborts when those of marking change
 * while it marks, and it may do so before the first statement of a large program.
 */
const collectAlone = [
  '--single-threaded-gc',
  '--no-parallel-scavenge',
  '--no-parallel-compaction',
  '--no-parallel-pointer-update',
  '--no-parallel-weak-ref-clearing',
] as const;

/**
 * Node's own modules that a daemon loads in any case, others of them with these. They come with compiled code, which V8 refuses
 * when its flags are others by then: loaded later, they take half as much again of the processor (50 ms were seen).
 */
const ownModules = [
  'node:http',
  'node:https',
  'node:child_process',
  'node:worker_threads',
  'node:cluster',
] as const;

/**
 * Tells V8 to prefer a small heap to fast code: a daemon is idle most of the time, and the memory of its host belongs to
 * others. Takes effect for what is loaded afterwards, so this file is a door of its own (`@bgp-lb/daemon/small-heap`).
 * Saves some 12 MB of resident memory. Also keeps the threads that are started later from waiting for one of lower
 * priority when they collect garbage.
 */
export function preferSmallHeap(): void {
  // Not by `import`, which would load more: see node-http.ts.
  for (const name of ownModules) process.getBuiltinModule(name);
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--max-semi-space-size=1');
  // Otherwise the youngest generation doubles while the modules are loaded, and keeps that size.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString(`--bytecode-old-age=${CODE_AGE}`);
  // In its compiled form too, and not only as bytecode.
  setFlagsFromString('--flush-baseline-code');
  for (const flag of collectAlone) {
    setFlagsFromString(flag);
  }
}

/**
 * Collects what loading modules and reading the configuration left behind, when the start is over. A process that does so
 * little would keep it for hours. The first collection takes all code too, most of which only the start has run: what is called
 * again is compiled again. The later ones leave that alone, since what is called all the time has just become fast.
 * Saves some 8 MB, of which code is 5.
 * @param release gives memory back to the kernel, which neither V8 nor free(3) does by itself
 * @param delays milliseconds until each collection
 */
export function giveBackStartUpMemory(
  release: () => void = () => undefined,
  delays: readonly number[] = SETTLED_AFTER,
): void {
  for (const [index, delay] of delays.entries()) {
    setTimeout(() => {
      collectGarbage(index === 0);
      release();
      // What is called at rest has been compiled again by then, and V8's compiler is not needed any more.
      setTimeout(release, RECOMPILED_AFTER).unref();
    }, delay).unref();
  }
}

/** @param takesCode of which V8 has to compile again what is called again */
function collectGarbage(takesCode: boolean): void {
  setFlagsFromString('--expose-gc');
  // `gc` is a global of contexts that are made after the flag was set.
  const collect: unknown = runInNewContext('gc');
  // Not `flavor: 'last-resort'`: V8 was seen to abort in it while it collected in one thread with all flags of that set.
  if (typeof collect !== 'function') return;
  // A collection that is asked for makes no code older: all of it is taken for old, or none.
  if (takesCode) setFlagsFromString('--bytecode-old-age=0');
  collect({ type: 'major', execution: 'sync' });
  setFlagsFromString(`--bytecode-old-age=${CODE_AGE}`);
}
