import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

const build = { program: 'bgp-lb-router', version: '1.2.3' };
const metrics = createMetrics(build);

describe('createMetrics', () => {
  it('has the metrics of the process under the prefix, in base units', async () => {
    const names = (await metrics.registry.getMetricsAsArray()).map((metric) => metric.name);
    expect(names).toContain('bgp_lb_process_cpu_seconds_total');
    expect(names).toContain('bgp_lb_process_resident_memory_bytes');
    expect(names).toContain('bgp_lb_nodejs_eventloop_lag_p99_seconds');
    expect(names.filter((name) => !/^bgp_lb_[a-z0-9_]+$/.test(name))).toEqual([]);
    expect(names.filter((name) => /_(ms|milliseconds|kb|percent)(_|$)/.test(name))).toEqual([]);
  });

  it('tells the release', async () => {
    expect(await metrics.registry.metrics()).toContain(
      `bgp_lb_build_info{program="bgp-lb-router",version="1.2.3",nodejs_version="${process.version}"} 1`,
    );
  });

  it('names counters so, and nothing else', async () => {
    const all = await metrics.registry.getMetricsAsJSON();
    const ofCounters = all.filter(({ name }) => name.endsWith('_total'));
    expect(ofCounters.length).toBeGreaterThan(0);
    expect(new Set(ofCounters.map(({ type }) => type))).toEqual(new Set(['counter']));
    expect(all.filter(({ name, type }) => String(type) === 'counter' && !name.endsWith('_total'))).toEqual(
      [],
    );
  });

  it('tells the delay of timers in seconds, since the last scrape, and none where none was noted', async () => {
    const lag = async (): Promise<Record<string, number>> => {
      const text = await metrics.registry.metrics();
      const lines = text.matchAll(/^bgp_lb_nodejs_eventloop_lag_(\w+)_seconds (\S+)$/gm);
      return Object.fromEntries([...lines].map(([, statistic, value]) => [statistic, Number(value)]));
    };
    expect(await lag()).toMatchObject({ min: 0, max: 0, mean: 0, p50: 0 });
    for (const milliseconds of [2, 2, 2, 400]) metrics.noteLag(milliseconds);
    // A timer may fire a part of a millisecond early.
    metrics.noteLag(-0.4);
    const noted = await lag();
    expect(noted['max']).toBeCloseTo(0.4, 2);
    expect(noted['p50']).toBeCloseTo(0.002, 4);
    expect(noted['mean']).toBeCloseTo(0.0812, 3);
    expect(noted['min']).toBeLessThan(0.001);
    expect(await lag()).toMatchObject({ max: 0 });
  });

  it('shares nothing with another registry', async () => {
    const other = createMetrics(build);
    expect((await other.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
    other.registry.clear();
    expect((await metrics.registry.getMetricsAsArray()).length).toBeGreaterThan(0);
  });
});
