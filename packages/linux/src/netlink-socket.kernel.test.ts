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

  it('dumps whole tables while another process changes them', async () => {
    const other = await test.namespace.start<typeof import('./testing/subject.ts')>(
      new URL('./testing/subject.ts', import.meta.url),
    );
    const changing = other.run(async ({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const way = { protocol: 85, gateway: '10.0.0.12', interfaceIndex: linkIndex('v0') };
      for (let round = 0; round < 100; round++) {
        for (let number = 0; number < 10; number++)
          route.setRoute({ destination: `10.21.0.${number}/32`, ...way });
        for (const one of route.routes({ protocol: 85 })) route.deleteRoute(one);
        await new Promise((resolve) => setImmediate(resolve));
      }
      route.close();
    });
    const counts = await test.inside.run(async ({ linux }) => {
      const route = new linux.RouteSocket();
      const seen = new Set<number>();
      for (let round = 0; round < 100; round++) {
        seen.add(route.routes({ protocol: 84 }).length);
        await new Promise((resolve) => setImmediate(resolve));
      }
      route.close();
      return [...seen];
    });
    await changing;
    expect(counts).toEqual([1000]);
  });
});
