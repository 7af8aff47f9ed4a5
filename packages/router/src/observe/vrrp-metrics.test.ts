import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { vrrpStatus } from '../vrrp/testing/vrrp-status.ts';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';
import { observeVrrp } from './vrrp-metrics.ts';

async function samples(read: () => VrrpStatus | undefined): Promise<string[]> {
  const registry = new Registry();
  observeVrrp(registry, 'x_', read);
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('metrics of VRRP', () => {
  it('are absent where this host has no part in it', async () => {
    expect(await samples(() => undefined)).toEqual([]);
  });

  it('have one state, and who could serve', async () => {
    expect(await samples(() => vrrpStatus({ unfit: 'HAProxy is gone' }))).toEqual([
      'x_vrrp_state{interface="eth0",vrid="100",state="master"} 0',
      'x_vrrp_state{interface="eth0",vrid="100",state="backup"} 1',
      'x_vrrp_state{interface="eth0",vrid="100",state="fault"} 0',
      'x_vrrp_state{interface="eth0",vrid="100",state="stop"} 0',
      'x_vrrp_fit{peer="self"} 0',
      'x_vrrp_fit{peer="10.0.0.3"} 1',
      'x_vrrp_fit{peer="10.0.0.4"} 0',
    ]);
  });

  it('follow each change, and forget a peer that is listed no more', async () => {
    let status = vrrpStatus();
    const registry = new Registry();
    observeVrrp(registry, 'x_', () => status);
    await registry.metrics();
    status = vrrpStatus({ state: 'master', vrid: 7, peers: [] });
    const text = await registry.metrics();
    expect(text).toContain('x_vrrp_state{interface="eth0",vrid="7",state="master"} 1');
    expect(text).toContain('x_vrrp_fit{peer="self"} 1');
    expect(text).not.toContain('vrid="100"');
    expect(text).not.toContain('10.0.0.3');
  });
});
