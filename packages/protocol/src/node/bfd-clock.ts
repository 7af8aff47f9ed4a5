import { type Clock, systemClock } from './clock.ts';

/**
 * The machine's monotonic clock by its own zero, so that times of different threads can be compared:
 * `performance.now()`, which `systemClock` gives, counts from the start of its thread.
 */
export const threadClock: Clock = {
  now: () => Number(process.hrtime.bigint()) / 1e6,
  after: systemClock.after,
};
