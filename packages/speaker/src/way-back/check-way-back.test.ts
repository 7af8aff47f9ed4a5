import { describe, expect, it } from 'vitest';
import { checkWayBack, type WayBack } from './check-way-back.ts';

const eth0 = { name: 'eth0', mtu: 1500, isTowardsRouters: true, rpFilter: 2 };
const eth1 = { name: 'eth1', mtu: 1500, isTowardsRouters: false, rpFilter: 0 };
const well: WayBack = {
  version: 4,
  links: [eth0, eth1],
  routes: [
    { destination: '0.0.0.0/0', interfaceName: 'eth0' },
    { destination: '10.0.0.0/24', interfaceName: 'eth0' },
    { destination: '10.0.2.0/24', interfaceName: 'eth1' },
  ],
  answer: { interfaceName: 'eth0', table: 254 },
  ownSource: undefined,
  sourceRules: [],
  dropped: { packets: 0, ms: 60_000 },
  firewall: { drops: [], mayDrop: [] },
};
const wellIpv6: WayBack = {
  ...well,
  version: 6,
  links: well.links.map((link) => ({ ...link, rpFilter: 0 })),
  routes: [{ destination: '::/0', interfaceName: 'eth0' }],
  dropped: undefined,
};

const found = (changes: Partial<WayBack>, way = well): unknown =>
  checkWayBack([{ ...way, ...changes }]).map(({ level, place, value }) => [level, place, value]);

describe('the way of answers to clients', () => {
  it('is good where nothing is in it, with both versions', () => {
    expect(checkWayBack([well, wellIpv6]).map(({ level }) => level)).toEqual(['good']);
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

  it.each([
    ['IPv4', well],
    ['IPv6', wellIpv6],
  ])('is a fault where nothing leaves: %s', (name, way) => {
    expect(found({ answer: 'ENETUNREACH' }, way)).toEqual([
      [
        'fault',
        'ip rule',
        `answers of a VIP to clients behind a gateway have no route (${name}): ENETUNREACH`,
      ],
    ]);
    const firewall = { drops: ['inet filter output'], mayDrop: [] };
    expect(found({ firewall }, way)).toEqual([
      ['fault', 'inet filter output', `drops answers to clients (${name}): no rule accepts them`],
    ]);
  });

  it('is a fault where the host itself would speak as the VIP', () => {
    expect(found({ ownSource: '2001:db8::100' }, wellIpv6)).toEqual([
      [
        'fault',
        'this host',
        expect.stringContaining('connections of this host to others have 2001:db8::100 as source'),
      ],
    ]);
  });

  it('is a warning where large answers are sent again and again, on more than a few connections', () => {
    const said = (connections: number) =>
      checkWayBack([well], { connections, clients: 2, of: 9 }).map(({ level, value }) => [level, value]);
    expect(said(3)).toEqual([
      [
        'warning',
        'large answers on 3 of 9 connections, to 2 clients, are sent again and again: they do not reach them',
      ],
    ]);
    expect(said(2)).toEqual([['good', expect.any(String)]]);
  });

  const smaller = {
    links: [
      { ...eth0, mtu: 9000 },
      { ...eth1, mtu: 1400 },
    ],
    answer: { interfaceName: 'eth1', table: 7 },
  };
  it.each<[string, Partial<WayBack>, WayBack, string]>([
    ['no default route', { routes: well.routes.slice(1) }, well, 'there is no default route (IPv4)'],
    ['no default route', { routes: [] }, wellIpv6, 'there is no default route (IPv6)'],
    ['a smaller MTU by the route of a VIP`s own', smaller, well, 'MTU 1400 towards clients, 9000 on eth0'],
    ['a smaller MTU', smaller, wellIpv6, 'MTU 1400 towards clients, 9000 on eth0'],
    [
      'a smaller MTU by the default route, where no VIP is bound',
      { ...smaller, answer: undefined, routes: [{ destination: '0.0.0.0/0', interfaceName: 'eth1' }] },
      well,
      'MTU 1400 towards clients, 9000 on eth0',
    ],
    ['a rule by source', { sourceRules: ['100: from 10.100.0.1 lookup 7'] }, well, '100: from 10.100.0.1'],
    [
      'what rp_filter drops',
      { dropped: { packets: 27, ms: 61_000 } },
      well,
      '27 packets were dropped by rp_filter within 61 s',
    ],
    [
      'a firewall',
      { firewall: { drops: [], mayDrop: ['ip filter OUTPUT'] } },
      well,
      'may drop answers to clients (IPv4)',
    ],
  ])('is a warning with %s', (_, changes, way, value) => {
    expect(found(changes, way)).toEqual([['warning', expect.any(String), expect.stringContaining(value)]]);
  });
});
