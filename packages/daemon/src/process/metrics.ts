import { collectDefaultMetrics, Registry } from 'prom-client';
import { eventLoopLag, eventLoopLagGauges } from './event-loop-lag.ts';

/** A daemon's metrics. */
export interface Metrics {
  /** Its own registry: nothing is shared through prom-client's global one. */
  readonly registry: Registry;
  /** A timer of the daemon fired so many milliseconds late. To be called for one that fires some times a second at least. */
  readonly noteLag: (milliseconds: number) => void;
}

/** Milliseconds. prom-client's own sampling cannot be left out; it counts its interval as delay, and each look is a wake-up. */
const NEVER = 2 ** 31 - 1;

/**
 * A registry with the metrics of the process: CPU, memory, open files, start time, garbage collection, and the delay of the
 * event loop (shown as mean, deviation, minimum, maximum and percentiles since the last scrape). All names get the prefix,
 * base units, and `_total` for counters.
 */
export function createMetrics(prefix = 'bgp_lb_'): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: NEVER });
  for (const name of eventLoopLagGauges) registry.removeSingleMetric(prefix + name);
  return { registry, noteLag: eventLoopLag(registry, prefix) };
}
