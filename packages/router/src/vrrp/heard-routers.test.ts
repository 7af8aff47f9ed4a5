import { describe, expect, it } from 'vitest';
import { HeardRouters } from './heard-routers.ts';
import { vrrpSettings } from './testing/vrrp-config.ts';

const settings = vrrpSettings({ peers: ['10.0.0.3', '10.0.0.4'] });
const { vrid, peerBeacons } = settings;
const peer = (source: string, priority = 240) => ({ source, version: 3, vrid, priority }) as const;
const beacon = (source: string, priority = 240) =>
  ({ source, version: 3, vrid: peerBeacons.get(source) ?? 0, priority }) as const;

describe('the virtual routers of a link', () => {
  it('have an owner while it is heard, and none when it gives up or falls silent', () => {
    const heard = new HeardRouters();
    heard.hear(peer('10.0.0.3'), 0);
    expect(heard.owner(settings, 700)?.source).toBe('10.0.0.3');
    expect(heard.owner(settings, 800)).toBeUndefined();
    heard.hear(peer('10.0.0.3'), 1000);
    heard.hear(peer('10.0.0.3', 0), 1001);
    expect(heard.owner(settings, 1001)).toBeUndefined();
  });

  it('are fit by their beacons, and not by having the VIPs or the beacon of another', () => {
    const heard = new HeardRouters();
    heard.hear(peer('10.0.0.3'), 0);
    heard.hear({ ...beacon('10.0.0.4'), source: '10.0.0.3' }, 0);
    expect(heard.fitPeers(settings, 1)).toEqual([]);
    heard.hear(beacon('10.0.0.3'), 0);
    heard.hear(beacon('10.0.0.4', 0), 0);
    expect(heard.fitPeers(settings, 1)).toEqual(['10.0.0.3']);
  });

  it('are foreign with our VRID alone', () => {
    const heard = new HeardRouters();
    heard.hear(peer('10.0.0.3'), 0);
    heard.hear({ ...peer('10.0.0.99'), vrid: vrid + 9 }, 0);
    expect(heard.foreign(settings, 10_000, 1)).toBeUndefined();
    heard.hear(peer('10.0.0.99', 0), 5);
    expect(heard.foreign(settings, 10_000, 6)).toMatchObject({ source: '10.0.0.99', priority: 0 });
    expect(heard.foreign(settings, 10_000, 10_005)).toBeUndefined();
  });

  it('do not grow without bound, and the one heard last stays', () => {
    const heard = new HeardRouters();
    for (let n = 0; n < 1000; n++) heard.hear({ ...peer(`10.1.${n >> 8}.${n & 255}`) }, n);
    const all = heard.all(1000);
    expect(all).toHaveLength(64);
    expect(all.at(-1)?.source).toBe('10.1.3.231');
  });
});
