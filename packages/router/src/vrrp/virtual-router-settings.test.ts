import { describe, expect, it } from 'vitest';
import { vrrpConfig, vrrpSettings } from './testing/vrrp-config.ts';
import { virtualRouterSettings, vridOf } from './virtual-router-settings.ts';

describe('the settings of a virtual router', () => {
  it.each([
    [{}, ['10.0.0.100'], 100],
    [{}, ['fd00::9', '10.0.0.7'], 7],
    [{}, ['10.0.0.0'], 255],
    [{ peers: ['fd00::3'] }, ['10.0.0.7', 'fd00::9'], 9],
    [{ vrid: 51 }, ['10.0.0.100'], 51],
  ])('%j with VIPs %j have VRID %i', (over, vips, vrid) => {
    expect(vridOf(vrrpConfig(over), vips)).toBe(vrid);
  });

  it('give each load balancer a beacon of its own, which all of them know', () => {
    const addresses = ['10.0.0.2', '10.0.0.3', '10.0.0.10', '10.0.0.4'];
    const all = addresses.map((own) => {
      const peers = addresses.filter((one) => one !== own);
      const settings = virtualRouterSettings(
        vrrpConfig({ peers, vrid: 254 }),
        'kernel',
        ['10.0.0.100'],
        [{ address: own, prefixLength: 24 }],
      );
      if (typeof settings === 'string') throw new Error(settings);
      return settings;
    });
    const beacons = all.map(({ beaconVrid }) => beaconVrid);
    expect(new Set(beacons).size).toBe(addresses.length);
    for (const vrid of beacons) {
      expect(vrid).not.toBe(254);
      expect(vrid).toBeGreaterThan(0);
      expect(vrid).toBeLessThan(256);
    }
    for (const one of all) {
      for (const other of all.filter((each) => each !== one)) {
        expect(one.peerBeacons.get(other.ownAddress)).toBe(other.beaconVrid);
      }
    }
  });

  it('take the address that shares a subnet with the peers, and never a VIP', () => {
    const own = [
      { address: 'fd00::2', prefixLength: 64 },
      { address: '192.0.2.1', prefixLength: 24 },
      { address: '10.0.0.100', prefixLength: 24 },
      { address: '10.0.0.2', prefixLength: 24 },
    ];
    expect(virtualRouterSettings(vrrpConfig(), 'haproxy', ['10.0.0.100'], own)).toMatchObject({
      ownAddress: '10.0.0.2',
    });
  });

  it.each([
    [{ peers: ['10.9.0.3'] }, 'shares a subnet with 10.9.0.3: VRRP needs one link'],
    [{ address: '10.0.0.9' }, 'eth0 does not have 10.0.0.9'],
  ])('of %j are none: %s', (over, words) => {
    const own = [{ address: '10.0.0.2', prefixLength: 24 }];
    expect(virtualRouterSettings(vrrpConfig(over), 'haproxy', ['10.0.0.100'], own)).toContain(words);
  });

  it('have the VIPs of the peers first, since those are advertised', () => {
    expect(vrrpSettings({}, 'haproxy', ['fd00::100', '10.0.0.100']).vips).toEqual([
      '10.0.0.100',
      'fd00::100',
    ]);
  });
});
