import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Milliseconds between two looks. Each wakes a process that has nothing else to do: the 20 ms that there were before
 * made half of all wake-ups of a speaker at rest. BFD, which has less time than this, is a thread of its own.
 */
const SAMPLE_INTERVAL = 200;

const NANOSECONDS_PER_MILLISECOND = 1e6;
const NANOSECONDS_PER_SECOND = 1e9;

/** What each gauge tells, and how it is read from the histogram. */
const statistics: readonly [name: string, what: string, read: (histogram: RecordableHistogram) => number][] =
  [
    ['min', 'Shortest', ({ min }) => min],
    ['max', 'Longest', ({ max }) => max],
    ['mean', 'Mean', ({ mean }) => mean],
    ['stddev', 'Standard deviation of the', ({ stddev }) => stddev],
    ['p50', 'Median', (histogram) => histogram.percentile(50)],
    ['p90', '90th percentile of the', (histogram) => histogram.percentile(90)],
    ['p99', '99th percentile of the', (histogram) => histogram.percentile(99)],
  ];

/** The gauges that `sampleEventLoopLag` registers, less the prefix. */
export const eventLoopLagGauges: readonly string[] = statistics.map(([name]) => gaugeName(name));

/**
 * How late a timer of this process fires, as gauges in seconds over the time since the last scrape. What holds the event loop
 * for longer than the interval is seen, less one interval at most; what is shorter may fall between two looks.
 * @returns ends the sampling
 */
export function sampleEventLoopLag(registry: Registry, prefix: string): () => void {
  const histogram = createHistogram();
  let due = performance.now() + SAMPLE_INTERVAL;
  const timer = setInterval(() => {
    const now = performance.now();
    // A histogram begins at 1.
    histogram.record(Math.max(1, Math.round((now - due) * NANOSECONDS_PER_MILLISECOND)));
    due = now + SAMPLE_INTERVAL;
  }, SAMPLE_INTERVAL).unref();
  const gauges = statistics.map(([name, what, read], index) => {
    const gauge: Gauge = new Gauge({
      name: prefix + gaugeName(name),
      help: `${what} delay of the event loop since the last scrape.`,
      registers: [registry],
      // The first that is asked answers for all, so that they tell of the same time.
      ...(index === 0 ? { collect } : {}),
    });
    return { gauge, read };
  });
  function collect(): void {
    for (const { gauge, read } of gauges)
      gauge.set(histogram.count === 0 ? 0 : read(histogram) / NANOSECONDS_PER_SECOND);
    histogram.reset();
  }
  return () => clearInterval(timer);
}

function gaugeName(statistic: string): string {
  return `nodejs_eventloop_lag_${statistic}_seconds`;
}
