import {
  asn,
  type Path,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  pathAttributes,
} from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { otherMasters, otherMastersPolicy } from './other-masters.ts';

const from = {
  name: 'lb',
  address: parseIpAddress('10.0.0.10'),
  routerId: parseRouterId('10.0.0.10'),
  asn: asn(64512),
  isInternal: true,
};

function path(nextHop: string, fields: Partial<PathAttributes> = {}, vip = '10.100.0.1/32'): Path {
  const attributes = pathAttributes({ nextHop: parseIpAddress(nextHop), localPref: 100, ...fields });
  return { prefix: parsePrefix(vip), pathId: 1, attributes, from, learnedAt: 0, isStale: false };
}

describe('the other masters', () => {
  it('have link-local addresses with the link of the session, of which one may be ours', () => {
    const onLink = { ...from, zone: 'eth0' };
    const paths = ['fe80::12', 'fe80::11'].map((hop) => ({ ...path(hop, {}, 'fd00::64/128'), from: onLink }));
    const found = otherMasters([{ router: 'fe80::10%eth0', paths }], ['fe80::11%eth0']);
    expect(found.map(({ address }) => address)).toEqual(['fe80::12%eth0']);
  });

  it('are those that some router forwards to, each once, with the routers that say so', () => {
    const received = [
      { router: '10.0.0.10', paths: [path('10.0.0.13'), path('10.0.0.12')] },
      { router: '10.0.0.9', paths: [path('10.0.0.12')] },
    ];
    expect(otherMasters(received, ['10.0.0.11'])).toEqual([
      {
        vip: '10.100.0.1/32',
        address: '10.0.0.12',
        routers: ['10.0.0.10', '10.0.0.9'],
        asksForLess: false,
      },
      { vip: '10.100.0.1/32', address: '10.0.0.13', routers: ['10.0.0.10'], asksForLess: false },
    ]);
  });

  it('never are this master itself', () => {
    expect(otherMasters([{ router: 'lb', paths: [path('10.0.0.11')] }], ['10.0.0.11'])).toEqual([]);
  });

  it.each([
    ['GRACEFUL_SHUTDOWN', { communities: [0xffff0000] }],
    ['LOCAL_PREF 0', { localPref: 0 }],
  ])('are marked when they ask for less by %s', (_, fields) => {
    expect(otherMasters([{ router: 'lb', paths: [path('10.0.0.12', fields)] }], [])).toMatchObject([
      { asksForLess: true },
    ]);
  });

  it('are not marked while one router has not heard of it', () => {
    const received = [
      { router: 'lb1', paths: [path('10.0.0.12', { localPref: 0 })] },
      { router: 'lb2', paths: [path('10.0.0.12')] },
    ];
    expect(otherMasters(received, [])).toMatchObject([{ asksForLess: false }]);
  });

  it('are told of for our VIPs only', () => {
    const policy = otherMastersPolicy([parsePrefix('10.100.0.1/32')]);
    const judge = (prefix: string) => policy(parsePrefix(prefix), path('10.0.0.12').attributes, from);
    expect(judge('10.100.0.1/32').accept).toBe(true);
    expect(judge('0.0.0.0/0')).toEqual({
      accept: false,
      reason: 'not a VIP of this master: 0.0.0.0/0',
    });
  });
});
