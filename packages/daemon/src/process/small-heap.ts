import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds after the start at which what it left is given back. */
const SETTLED_AFTER = 1_000;

/**
 * Tells V8 to prefer a small heap to fast code: a daemon is idle most of the time, and the memory of its host belongs to
 * others. Takes effect for what is loaded afterwards, so this file is a door of its own (`@bgp-lb/daemon/small-heap`).
 * Saves some 12 MB of resident memory.
 */
export function preferSmallHeap(): void {
  setFlagsFromString('--optimize-for-size');
  setFlagsFromString('--max-semi-space-size=1');
  // Otherwise the youngest generation doubles while the modules are loaded, and keeps that size.
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Collects once what loading modules and reading the configuration left behind, when the start is over. A process
 * that does so little would keep it for hours. Saves some 3 MB.
 * @param trim gives memory that was freed back to the kernel, which free(3) does not (malloc_trim(3)): another 2 MB
 */
export function giveBackStartUpMemory(trim: () => void = () => undefined): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    // `gc` is a global of contexts that are made after the flag was set.
    const collect: unknown = runInNewContext('gc');
    if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    trim();
  }, SETTLED_AFTER).unref();
}
