import { expect, it } from 'vitest';
import { readWayBack, type WayBackQuestion } from './read-way-back.ts';

const link = { mtu: 1500, isUp: true, isLoopback: false };

it('leaves out an interface that is gone between the list of them and the read of its setting', () => {
  const question: WayBackQuestion = {
    config: { vips: [{ address: '10.100.0.1', port: 443, machinePort: 6443 }], routers: [] },
    routes: {
      // The second one is there, as in each namespace: it stands for an uplink.
      links: () =>
        [
          { ...link, index: 7, name: 'gone-veth' },
          { ...link, index: 1, name: 'lo' },
        ] as never,
      routes: () => [],
      rules: () => [],
      addresses: () => [],
      routeTo: () => ({ interfaceIndex: 1, source: '10.0.0.1' }) as never,
      routeOf: () => undefined,
    },
    firewall: { chains: [], unread: [] },
    dropped: undefined,
  };
  expect(readWayBack(question).map(({ links }) => links.map(({ name }) => name))).toEqual([['lo']]);
});
