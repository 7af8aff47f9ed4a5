import { performance } from 'node:perf_hooks';

/** Where time comes from. Tests put a clock of their own here. */
export interface Clock {
  /** Monotonic milliseconds: never set back, and unrelated to the time of day. */
  now(): number;
  /** Calls `fire` once after `ms` milliseconds, unless the returned function is called before. */
  after(ms: number, fire: () => void): () => void;
}

/** The longest delay of setTimeout; a longer one would fire at once. */
const LONGEST = 0x7fffffff;

/** The machine's monotonic clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, Math.min(LONGEST, Math.max(0, Math.ceil(ms))));
    return () => clearTimeout(timer);
  },
};
