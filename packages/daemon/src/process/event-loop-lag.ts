import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

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

/** The gauges that `eventLoopLag` registers, less the prefix. */
export const eventLoopLagGauges: readonly string[] = statistics.map(([name]) => gaugeName(name));

/**
 * How late timers of this process fire, as gauges in seconds over the time since the last scrape. It has no timer of its own,
 * which would wake a process that has nothing else to do: a daemon notes how late one fired that it has anyway.
 * @returns notes that a timer fired so many milliseconds late
 */
export function eventLoopLag(registry: Registry, prefix: string): (milliseconds: number) => void {
  const histogram = createHistogram();
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
  // A histogram begins at 1.
  return (milliseconds) =>
    histogram.record(Math.max(1, Math.round(milliseconds * NANOSECONDS_PER_MILLISECOND)));
}

function gaugeName(statistic: string): string {
  return `nodejs_eventloop_lag_${statistic}_seconds`;
}
