import type { BfdSessionStatus } from '@bgp-lb/protocol/node';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { BfdMetrics } from './bfd-metrics.ts';

function session(id: string, sent: number, changed: Partial<BfdSessionStatus> = {}): BfdSessionStatus {
  return {
    id,
    remoteAddress: id,
    multihop: false,
    state: 'Up',
    since: 0,
    diagnostic: 0,
    remote: undefined,
    localDiscriminator: 1,
    transmitInterval: 50,
    detectionTime: 150,
    lastReceivedAt: 0,
    sendError: undefined,
    authentication: 'none',
    counters: { sent, received: sent * 2, sendErrors: 0, discarded: 0, failures: 0, averted: 1 },
    ...changed,
  };
}

describe('the metrics of BFD', () => {
  it('count sessions by role and state, and packets also of sessions that have ended', async () => {
    const registry = new Registry();
    const metrics = new BfdMetrics(registry);
    let sessions = [session('a', 10), session('b', 5, { state: 'Down' })];
    metrics.observe({
      status: async () => ({ sessions }),
      roleOf: () => 'master',
    });
    await registry.metrics();
    sessions = [session('a', 12)];
    await registry.metrics();
    sessions = [session('a', 1)];
    const text = await registry.metrics();
    expect(text).toContain('bgp_lb_router_bfd_sessions{role="master",state="Up"} 1');
    expect(text).not.toContain('state="Down"');
    expect(await packets(registry, 'sent')).toBe(10 + 5 + 2 + 1);
    expect(await packets(registry, 'received')).toBe(2 * (10 + 5 + 2 + 1));
  });

  it('have no session while the thread is dead', async () => {
    const registry = new Registry();
    new BfdMetrics(registry).observe({ status: async () => undefined, roleOf: () => 'master' });
    expect(await registry.metrics()).not.toContain('bgp_lb_router_bfd_sessions{');
  });
});

async function packets(registry: Registry, direction: string): Promise<number | undefined> {
  const metric = (await registry.getMetricsAsJSON()).find(
    ({ name }) => name === 'bgp_lb_router_bfd_packets_total',
  );
  return metric?.values.find(({ labels }) => labels['direction'] === direction)?.value;
}
