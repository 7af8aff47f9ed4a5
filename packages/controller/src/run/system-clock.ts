import { performance } from 'node:perf_hooks';
import type { Clock } from '@bgp-lb/kubernetes';

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
