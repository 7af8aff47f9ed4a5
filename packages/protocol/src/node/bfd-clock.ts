import { performance } from 'node:perf_hooks';
import { type Clock, systemClock } from './clock.ts';

/** Both clocks are CLOCK_MONOTONIC and differ by their zero alone; `performance.now()` costs no bigint. */
const zero = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/**
 * The machine's monotonic clock by its own zero, so that times of different threads can be compared:
 * `performance.now()`, which `systemClock` gives, counts from the start of its thread.
 */
export const threadClock: Clock = {
  now: () => zero + performance.now(),
  after: systemClock.after,
};
