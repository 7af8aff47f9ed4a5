import { afterAll, describe, expect, it } from 'vitest';
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

  it('measures the delay of the event loop in seconds', async () => {
    await metrics.registry.metrics();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const until = performance.now() + 200;
    while (performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const text = await metrics.registry.metrics();
    const max = Number(/^bgp_lb_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
    expect(max).toBeGreaterThan(0.1);
    expect(max).toBeLessThan(10);
  });

  it('shares nothing with another registry', async () => {
    const other = createMetrics('bgp_lb_');
    expect((await other.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
    other.close();
    expect((await metrics.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
  });
});
