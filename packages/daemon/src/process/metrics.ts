import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
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

const PREFIX = 'bgp_lb_';

/** Gauges of prom-client whose names end as those of counters do. What they count is in `nodejs_active_resources`, by type. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `${PREFIX}nodejs_active_${what}_total`);
/** Lists of what is open, which prom-client names after what is deprecated. */
const superseded = ['handles', 'requests'].map((what) => `${PREFIX}nodejs_active_${what}`);

/**
 * A registry with the metrics of the process: its build, CPU, memory, open files, start time, garbage collection, and the delay of
 * the event loop (shown as mean, deviation, minimum, maximum and percentiles since the last scrape). All names begin with
 * `bgp_lb_`, have base units, and `_total` for counters.
 */
export function createMetrics(build: {
  /** `bgp-lb-router` */
  readonly program: string;
  readonly version: string;
}): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: PREFIX, eventLoopMonitoringPrecision: NEVER });
  for (const name of [...eventLoopLagGauges.map((lag) => PREFIX + lag), ...misnamed, ...superseded]) {
    registry.removeSingleMetric(name);
  }
  new Gauge({
    name: `${PREFIX}build_info`,
    help: 'The program and its release, as labels of a 1.',
    labelNames: ['program', 'version', 'nodejs_version'],
    registers: [registry],
  }).set({ ...build, nodejs_version: process.version }, 1);
  return { registry, noteLag: eventLoopLag(registry, PREFIX) };
}
