import { setFlagsFromString } from 'node:v8';

/**
 * Tells V8 to prefer a small heap to fast code: a master's memory belongs to its API server, and the speaker does little.
 * Takes effect for what is loaded afterwards. Saves some 12 MB of resident memory.
 */
export function preferSmallHeap(): void {
  setFlagsFromString('--optimize-for-size');
  // Otherwise the youngest generation doubles while the modules are loaded, and keeps that size.
  setFlagsFromString('--semi-space-growth-factor=1');
}
