import { describe, expect, it } from 'vitest';
import { generate } from '../docs/sections.ts';
import { sampled } from '../statistics.ts';
import { machine } from '../testing/small-reports.ts';
import type { TrafficReport, TrafficResult } from './measure-traffic.ts';

const of = (...samples: number[]) => sampled(samples);

function result(contender: TrafficResult['contender'], answers: number, served?: number): TrafficResult {
  return {
    contender,
    newConnectionsPerSecond: of(1000, 3000, 2000),
    failedConnections: 0,
    processorTime: of(200),
    ownProcessorTime: of(50),
    latency: [32, 1000].map((connections) => ({
      connections,
      p50: of(answers),
      p99: of(answers * 10),
      failed: 0,
    })),
    served: served === undefined ? undefined : of(served),
    brokenAtSurvivors: served === undefined ? undefined : of(0, 40),
    survivors: served === undefined ? undefined : of(200, 200),
  };
}

const report: TrafficReport = {
  ...{ bench: 'traffic', machine, haproxy: '2.6.12', rounds: 1, tookMs: 1, failures: [] },
  results: [result('direct', 0.2), result('bgp-lb, HAProxy', 0.5, 900), result('FRR', 0.3)],
};

describe('the report of what clients get', () => {
  const { sections, plots } = generate({ traffic: report }, 'plots');

  it('has what a load balancer adds to the answers of the masters themselves', () => {
    const rows = sections['traffic-answers']?.split('\n') ?? [];
    expect(rows.find((row) => /^\| 32 .*HAProxy/.test(row))).toMatch(
      / 0\.50 \| +0\.30 \| +5\.00 \| +3\.00 \|/,
    );
    expect(rows.find((row) => /^\| 32 .*direct/.test(row))).toMatch(/ 0\.20 \| +\| +2\.00 \| +\|/);
  });

  it('has the median of the rounds with the lowest and the highest', () => {
    expect(sections['traffic-connections']).toContain('2000 (1000 to 3000)');
  });

  it('shows no death where no master died, and each where one did', () => {
    expect(sections['traffic-silence']).not.toContain('direct');
    expect(sections['traffic-silence']).toMatch(
      /bgp-lb, HAProxy \| +900 \| +20 \(0 to 40\) \| +200 \| +2 \|/,
    );
    expect(Object.keys(plots)).toEqual(['traffic-death.svg']);
    expect(sections['plots-traffic']).toContain('(plots/traffic-death.svg)');
  });
});
