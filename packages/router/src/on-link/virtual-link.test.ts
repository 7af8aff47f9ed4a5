import type { Link } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import { isVirtualLink, sharedLinkAddress, virtualLinkFault, virtualLinkOf } from './virtual-link.ts';

const link = (name: string, more: Partial<Link> = {}): Link => ({
  index: 2,
  name,
  flags: 1,
  isUp: true,
  hasCarrier: true,
  isLoopback: false,
  operState: 'up',
  mtu: 1500,
  ...more,
});

describe('the device of a VIP', () => {
  it('has a locally administered address that follows from the VIP, however that is written', () => {
    expect(sharedLinkAddress('10.0.0.100')).toBe('02:b4:0a:00:00:64');
    expect(sharedLinkAddress('fd00:0:0::100')).toBe(sharedLinkAddress('fd00::100'));
    expect(sharedLinkAddress('fd00::100')).toMatch(/^02:b6(:[0-9a-f]{2}){4}$/);
    expect(sharedLinkAddress('fd00::100')).not.toBe(sharedLinkAddress('fd00::101'));
  });

  it('has a name that Linux takes, another one on each link and for each VIP', () => {
    const names = ['10.0.0.100', '10.0.0.101', 'fd00::100'].flatMap((address) =>
      [2, 3, 46_655].map((parent) => virtualLinkOf(address, parent).name),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z0-9-]{1,15}$/);
  });

  it('is known by its kind and its note', () => {
    const { alias } = virtualLinkOf('10.0.0.100', 2);
    expect(isVirtualLink(link('x', { kind: 'macvlan', alias }))).toBe(true);
    expect(isVirtualLink(link('x', { kind: 'macvlan' }))).toBe(false);
    expect(isVirtualLink(link('x', { kind: 'veth', alias }))).toBe(false);
  });
});

describe('a link that can carry no such device', () => {
  const links = [
    link('br0', { index: 7, kind: 'bridge' }),
    link('bond0', { index: 8, kind: 'bond' }),
    link('vrf0', { index: 9, kind: 'vrf' }),
  ];

  it.each<[string, Partial<Link>, boolean, string]>([
    ['is wireless', {}, true, 'proxyMode: responder'],
    ['is a port of a bridge', { master: 7 }, false, 'name br0 in dataplane.proxyInterfaces'],
    ['belongs to a bond', { master: 8 }, false, 'name bond0 in dataplane.proxyInterfaces'],
    ['is an ipvlan', { kind: 'ipvlan' }, false, 'ipvlan'],
    [
      'is one itself',
      { kind: 'macvlan', alias: virtualLinkOf('10.0.0.1', 2).alias },
      false,
      'device of ours',
    ],
  ])('%s', (_what, more, isWireless, text) => {
    expect(virtualLinkFault(link('eth0', more), links, isWireless)).toContain(text);
  });

  it('is none of: a plain one, one of a VRF, a bridge, a VLAN', () => {
    for (const more of [{}, { master: 9 }, { kind: 'bridge' }, { kind: 'vlan' }]) {
      expect(virtualLinkFault(link('eth0', more), links, false)).toBeUndefined();
    }
  });
});
