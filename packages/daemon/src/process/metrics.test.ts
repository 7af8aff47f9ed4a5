import { afterAll, describe, expect, it, vi } from 'vitest';
import { createMetrics } from './metrics.ts';

const metrics = createMetrics();
afterAll(() => metrics.close());

describe('createMetrics', () => {
  it('has the metrics of the process under the prefix, in base units', async () => {
    const names = (await metrics.registry.getMetricsAsArray()).map((metric) => metric.name);
    expect(names).toContain('bgp_lb_process_cpu_seconds_total');
    expect(names).toContain('bgp_lb_process_resident_memory_bytes');
    expect(names).toContain('bgp_lb_nodejs_eventloop_lag_p99_seconds');
    expect(names.filter((name) => !/^bgp_lb_[a-z0-9_]+$/.test(name))).toEqual([]);
    expect(names.filter((name) => /_(ms|milliseconds|kb|percent)(_|$)/.test(name))).toEqual([]);
  });

  it('measures the delay of the event loop in seconds, and none while there is none', async () => {
    const lag = async (statistic: string): Promise<number> => {
      const text = await metrics.registry.metrics();
      return Number(
        new RegExp(`^bgp_lb_nodejs_eventloop_lag_${statistic}_seconds (\\S+)$`, 'm').exec(text)?.[1],
      );
    };
    await lag('max');
    const until = performance.now() + 500;
    while (performance.now() < until);
    await vi.waitFor(async () => expect(await lag('max')).toBeGreaterThan(0.2), { timeout: 5_000 });
    // The interval itself is no delay.
    await vi.waitFor(
      async () => {
        const min = await lag('min');
        expect(min).toBeGreaterThan(0);
        expect(min).toBeLessThan(0.1);
      },
      { timeout: 10_000, interval: 500 },
    );
  });

  it('shares nothing with another registry', async () => {
    const other = createMetrics('bgp_lb_');
    expect((await other.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
    other.close();
    expect((await metrics.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
  });
});
