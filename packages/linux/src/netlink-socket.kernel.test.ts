import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('the request socket', () => {
  const test = useNamespace('netlink', (namespace) => addVeth(namespace, '10.0.0.1/24'));

  it('goes on after a dump that broke off in the middle', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy, NetlinkSocket, dumpRoutes }) => {
      const route = new linux.RouteSocket();
      const way = { protocol: 84, gateway: '10.0.0.11', interfaceIndex: linkIndex('v0') };
      for (let number = 0; number < 1000; number++) {
        route.setRoute({ destination: `10.20.${number >> 8}.${number & 255}/32`, ...way });
      }
      route.close();
      const netlink = new NetlinkSocket();
      const all = (parse: () => number): number[] =>
        netlink.dump('dump', dumpRoutes(4, { protocol: 84 }), parse);
      const broken = thrownBy(() =>
        all(() => {
          throw new TypeError('cannot read this');
        }),
      );
      const count = all(() => 1).length;
      netlink.close();
      return { broken, count, closed: thrownBy(() => all(() => 1)) };
    });
    expect(seen).toMatchObject({
      broken: { name: 'TypeError', message: 'cannot read this' },
      count: 1000,
      closed: { name: 'NetlinkError', errno: 'EBADF', message: 'dump: EBADF: the socket is closed' },
    });
  });

  it('dumps again when the table changes underneath, and gives up when it changes each time', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy, NetlinkSocket, dumpNexthops }) => {
      const route = new linux.RouteSocket();
      const way = { protocol: 84, gateway: '10.0.0.11', interfaceIndex: linkIndex('v0') };
      // More than three datagrams: the kernel has made two when the first message is read.
      for (let id = 1; id <= 4000; id++) route.setNexthop({ id, ...way });
      const netlink = new NetlinkSocket();
      let told = 0;
      const found = netlink.dump('dump', dumpNexthops(), () => {
        told += 1;
        if (told === 1) route.setNexthop({ id: 5000, ...way });
        return told;
      });
      let changes = 0;
      const restless = thrownBy(() =>
        netlink.dump('dump', dumpNexthops(), () => {
          changes += 1;
          if (changes % 100 === 0) route.setNexthop({ id: 10_000 + changes, ...way });
          return undefined;
        }),
      );
      const after = netlink.dump('dump', dumpNexthops(), () => 1).length > 4001;
      netlink.close();
      for (const { id } of route.nexthops()) route.deleteNexthop(id);
      route.close();
      return { found: found.length, isRepeated: told > 4001, restless, after };
    });
    expect(seen).toMatchObject({
      found: 4001,
      isRepeated: true,
      restless: { name: 'NetlinkError', errno: 'EBUSY' },
      after: true,
    });
  });

  it('ends a request whose acknowledgement found the queue full, though it was carried out, and goes on by a new socket', async () => {
    await test.inside.run(({ kept, linux }) => {
      kept.route = new linux.RouteSocket();
    });
    const crowd = fileURLToPath(new URL('../../../test/kit/crowd-netlink.pl', import.meta.url));
    expect(test.namespace.execute('perl', crowd, String(test.inside.pid), 'requests')).toBe('1');
    test.namespace.batch(
      Array.from({ length: 500 }, (_, n) => `route add 10.30.${n >> 8}.${n & 255}/32 dev v0`),
    );
    const seen = await test.inside.run(({ kept: { route }, linkIndex, thrownBy }) => {
      if (route === undefined) throw new Error('no socket');
      const way = { protocol: 84, gateway: '10.0.0.11', interfaceIndex: linkIndex('v0') };
      const lost = thrownBy(() => route.setRoute({ destination: '10.31.0.1/32', ...way }));
      const all = route.routes({ protocol: 84 }).map(({ destination }) => destination);
      const there = all.filter((destination) => destination.startsWith('10.31.'));
      const next = thrownBy(() => route.setRoute({ destination: '10.31.0.2/32', ...way }));
      route.close();
      return { lost, there, next };
    });
    expect(seen).toMatchObject({
      lost: { name: 'NetlinkError', errno: 'ENOBUFS', isAnswer: false },
      there: ['10.31.0.1/32'],
      next: undefined,
    });
  });
});
