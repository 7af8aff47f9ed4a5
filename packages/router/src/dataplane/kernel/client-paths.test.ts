import { type InterfaceAddress, type Link, NetlinkError, type Rule } from '@bgp-lb/linux';
import { describe, expect, it } from 'vitest';
import { type ClientPathQuestion, clientPathProblems } from './client-paths.ts';

const VIP = { prefix: '10.100.0.1/32', address: '10.100.0.1', port: 6443 };
const PROTOCOL = 84;
const link = (index: number, name: string) =>
  ({ index, name, isUp: true, hasCarrier: true, isLoopback: false }) as Link;
const address = (index: number, text: string) =>
  ({ index, address: text, prefixLength: 24, scope: 'global' }) as InterfaceAddress;
/** The kernel's own, of a VRF, as `ip rule` shows it: `1000: from all lookup [l3mdev-table]`. */
const vrf = { version: 4, priority: 1000, action: 'table', table: 0, isForVrf: true } as Rule;
const ours = { type: 'unicast', destination: VIP.prefix, table: 254, protocol: PROTOCOL } as const;

/** A kernel without VRFs cannot be had with them: this one answers as one that has the client's interface in one. */
function question(answer: (interfaceIndex: number | undefined) => object | undefined): ClientPathQuestion {
  const routeOf = ({ destination, interfaceIndex }: { destination: string; interfaceIndex?: number }) =>
    destination === VIP.address ? answer(interfaceIndex) : { ...ours, interfaceIndex: 1 };
  return {
    socket: {
      routeOf,
      links: () => [link(1, 'eth1'), link(2, 'eth0')],
      addresses: () => [address(1, '10.0.1.10'), address(2, '10.0.2.10')],
      rules: () => [vrf],
      routeTo: () => ({ type: 'unicast', interfaceIndex: 1 }),
    } as unknown as ClientPathQuestion['socket'],
    vips: [VIP],
    protocol: PROTOCOL,
    uplinks: { upstreams: ['10.0.1.11'], proxyInterfaces: [], arrivals: () => new Set() },
    firewall: [],
    ways: () => ['eth0'],
  };
}

describe('clients that come by an interface of a VRF', () => {
  it('are served where its table leads them to our route', () => {
    expect(clientPathProblems(question(() => ours))).toEqual([]);
  });

  it('are not where its table has another route, or none, and all of them are stopped by that', () => {
    const other = { ...ours, destination: '0.0.0.0/0', table: 10, protocol: 3 };
    const found = clientPathProblems(question((index) => (index === 1 ? other : ours)));
    expect(found).toMatchObject([
      {
        clients: 'all',
        // No rule is named: that of VRFs is not an operator's.
        text: 'packets to 10.100.0.1 from clients like 10.0.1.11 (eth1) take the route 0.0.0.0/0 of table 10 (metric 0, protocol 3), which is not ours',
      },
    ]);
    const none = clientPathProblems(
      question((index) => {
        if (index === 1) throw new NetlinkError('find the route', 101, '');
        return ours;
      }),
    );
    expect(none).toMatchObject([
      { clients: 'all', text: expect.stringContaining('have no route (ENETUNREACH)') },
    ]);
  });
});
