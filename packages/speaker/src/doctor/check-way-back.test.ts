import { describe, expect, it } from 'vitest';
import { checkWayBack, type WayBack } from './check-way-back.ts';

const eth0 = { name: 'eth0', mtu: 1500, isTowardsRouters: true, rpFilter: 2 };
const eth1 = { name: 'eth1', mtu: 1500, isTowardsRouters: false, rpFilter: 0 };
const well: WayBack = {
  links: [eth0, eth1],
  routes: [
    { destination: '0.0.0.0/0', interfaceName: 'eth0' },
    { destination: '10.0.0.0/24', interfaceName: 'eth0' },
    { destination: '10.0.2.0/24', interfaceName: 'eth1' },
  ],
  sourceRules: [],
  dropped: 0,
  outputChains: [],
};

const found = (changes: Partial<WayBack>): unknown =>
  checkWayBack({ ...well, ...changes }).map(({ level, place, value }) => [level, place, value]);

describe('the way of answers to clients', () => {
  it('is good where nothing is in it', () => {
    expect(found({})).toEqual([['good', 'this host', expect.any(String)]]);
  });

  it('is a fault where a strict rp_filter drops what comes by another uplink than the default route', () => {
    const links = [{ ...eth0, rpFilter: 1 }, eth1];
    const routes = [{ destination: '0.0.0.0/0', interfaceName: 'eth1' }];
    expect(found({ links, routes })).toEqual([
      [
        'fault',
        'eth0',
        'rp_filter is strict here, and the way back to clients is by eth1 (default route): their packets are dropped',
      ],
    ]);
  });

  it('names the clients that a strict rp_filter drops, where that is not all of them', () => {
    expect(found({ links: [{ ...eth0, rpFilter: 1 }, eth1] })).toEqual([
      ['warning', 'eth0', 'rp_filter is strict here: clients of 10.0.2.0/24 (eth1) are dropped'],
    ]);
    expect(found({ links: [{ ...eth0, rpFilter: 1 }], routes: well.routes.slice(0, 2) })).toEqual([
      ['good', 'this host', expect.any(String)],
    ]);
  });

  it.each<[string, Partial<WayBack>, string]>([
    ['no default route', { routes: well.routes.slice(1) }, 'there is no default route'],
    [
      'a smaller MTU towards clients',
      {
        links: [
          { ...eth0, mtu: 9000 },
          { ...eth1, mtu: 1400 },
        ],
        routes: [{ destination: '0.0.0.0/0', interfaceName: 'eth1' }],
      },
      'MTU 1400 towards clients, 9000 on eth0',
    ],
    ['a rule by source', { sourceRules: ['100: from 10.100.0.1 lookup 7'] }, '100: from 10.100.0.1 lookup 7'],
    ['what rp_filter dropped', { dropped: 27 }, '27 packets were dropped'],
    [
      'a firewall',
      { outputChains: [{ family: 'ip', table: 'filter', name: 'OUTPUT' }] },
      'drops what no rule accepts',
    ],
  ])('is a warning with %s', (_, changes, value) => {
    expect(found(changes)).toEqual([['warning', expect.any(String), expect.stringContaining(value)]]);
  });
});
