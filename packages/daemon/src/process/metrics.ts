import { collectDefaultMetrics, Registry } from 'prom-client';

/** A daemon's metrics. */
export interface Metrics {
  /** Its own registry: nothing is shared through prom-client's global one. */
  readonly registry: Registry;
  /** Ends the sampling of the event loop, for tests. */
  close(): void;
}

/** Sampling interval of the event loop delay. 20 ms is a fifteenth of the shortest default BFD detection time. */
const EVENT_LOOP_SAMPLE_MS = 20;

/**
 * A registry with the metrics of the process: CPU, memory, open files, start time, garbage collection, and the delay of the
 * event loop (a histogram of perf_hooks, shown as mean, deviation, minimum, maximum and percentiles since the last scrape). All
 * names get the prefix, base units, and `_total` for counters.
 */
export function createMetrics(prefix = 'bgp_lb_'): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  return { registry, close: () => registry.clear() };
}
