import { describe, expect, it } from 'vitest';
import { useNamespace } from './testing/use-namespace.ts';

describe('addresses in the kernel', () => {
  const test = useNamespace('address');

  it('gives back an address as it was set, with label, protocol and lifetimes', async () => {
    const found = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('lo');
      const lease = { validLifetime: 90, preferredLifetime: 0, protocol: 84 };
      route.setAddress({ index, address: '10.100.0.1', prefixLength: 32, ...lease });
      const address = route.addresses({ index }).find((one) => one.address === '10.100.0.1');
      route.close();
      return address;
    });
    expect(found).toMatchObject({
      index: 1,
      prefixLength: 32,
      scope: 'global',
      label: 'lo',
      preferredLifetime: 0,
      protocol: 84,
    });
    expect(found?.validLifetime).toBeGreaterThan(80);
    expect(test.namespace.ip('address', 'show', 'dev', 'lo')).toMatch(
      /inet 10\.100\.0\.1\/32 scope global deprecated .*lo\s+valid_lft \d+sec preferred_lft 0sec/,
    );
  });

  it.each([
    { address: '10.100.0.2', prefixLength: 32 },
    { address: '2001:db8::2', prefixLength: 128 },
  ])('lets the lease of $address run out by itself', async (key) => {
    const seen = await test.inside.run(async ({ linux, linkIndex, until }, lease) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('lo');
      const isThere = (): boolean => route.addresses({ index }).some((one) => one.address === lease.address);
      route.setAddress({ index, ...lease, validLifetime: 1, preferredLifetime: 0, noDad: true });
      const atFirst = isThere();
      await until(() => !isThere(), 8000);
      route.close();
      return atFirst;
    }, key);
    expect(seen).toBe(true);
  });

  it.each([
    { address: '10.100.0.3', prefixLength: 32 },
    { address: '2001:db8::3', prefixLength: 128 },
  ])(
    'renews the lease of $address in place, makes it permanent and a lease again, and keeps its protocol',
    async (key) => {
      const lifetimes = await test.inside.run(({ linux, linkIndex }, lease) => {
        const route = new linux.RouteSocket();
        const index = linkIndex('lo');
        const read = (): (number | undefined)[] =>
          route
            .addresses({ index })
            .filter((one) => one.address === lease.address)
            .flatMap(({ validLifetime, preferredLifetime, protocol }) => [
              validLifetime,
              preferredLifetime,
              protocol,
            ]);
        const seen: (number | undefined)[][] = [];
        for (const validLifetime of [30, 1000, undefined, 60]) {
          const times = validLifetime === undefined ? {} : { validLifetime, preferredLifetime: 0 };
          route.setAddress({ index, ...lease, noDad: true, protocol: 84, ...times });
          seen.push(read());
        }
        route.deleteAddress({ index, ...lease });
        seen.push(read());
        route.close();
        return seen;
      }, key);
      const about = (seconds: number) => [expect.closeTo(seconds, -1), 0, 84];
      expect(lifetimes).toEqual([about(30), about(1000), [undefined, undefined, 84], about(60), []]);
    },
  );

  it('says in the error which address the kernel refused, and why', async () => {
    const errors = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const key = { index: linkIndex('lo'), address: '192.0.2.1', prefixLength: 32 };
      const seen = [
        thrownBy(() => route.deleteAddress(key)),
        thrownBy(() => route.setAddress({ ...key, index: 4711 })),
        thrownBy(() => route.setAddress({ ...key, validLifetime: 10, preferredLifetime: 11 })),
        thrownBy(() => route.setAddress({ ...key, prefixLength: 33 })),
      ];
      route.close();
      return seen;
    });
    expect(errors[0]).toMatchObject({ name: 'NetlinkError', errno: 'EADDRNOTAVAIL' });
    expect(errors[0]?.['message']).toMatch(
      /^delete address 192\.0\.2\.1\/32 on interface 1: EADDRNOTAVAIL: /,
    );
    expect(errors[1]).toMatchObject({ name: 'NetlinkError', errno: 'ENODEV' });
    expect(errors[2]).toMatchObject({ name: 'RangeError' });
    expect(errors[2]?.['message']).toMatch(/11 s; allowed are 0 to 10/);
    expect(errors[3]?.['message']).toMatch(/33; allowed are 0 to 32/);
  });
});
