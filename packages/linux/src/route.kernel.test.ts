import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('routes in the kernel', () => {
  const test = useNamespace('route', (namespace) => addVeth(namespace, '10.0.0.1/24', '2001:db8::1/64'));

  it.each([
    { destination: '10.100.0.1/32', first: '10.0.0.11', second: '10.0.0.12' },
    { destination: '2001:db8:100::1/128', first: '2001:db8::11', second: '2001:db8::12' },
  ])('adds, replaces and deletes $destination in a table above 255', async (example) => {
    const seen = await test.inside.run(({ linux, linkIndex }, { destination, first, second }) => {
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      const gateways = (): unknown[] => route.routes({ table: 1000 }).map(({ gateway }) => gateway);
      const steps: unknown[] = [gateways()];
      for (const gateway of [first, second]) {
        route.setRoute({ destination, table: 1000, protocol: 84, gateway, interfaceIndex });
        steps.push(gateways());
      }
      route.deleteRoute({ destination, table: 1000, protocol: 84 });
      steps.push(gateways());
      route.close();
      return steps;
    }, example);
    expect(seen).toEqual([[], [example.first], [example.second], []]);
  });

  it('keeps an unreachable floor below a route by next hop, and answers by it once the route is gone', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const destination = '10.100.0.2/32';
      route.setNexthop({ id: 1, gateway: '10.0.0.11', interfaceIndex: linkIndex('v0'), protocol: 84 });
      route.setRoute({ destination, protocol: 84, type: 'unreachable', metric: 4_000_000_000 });
      route.setRoute({ destination, protocol: 84, nexthopId: 1 });
      const both = route.routes({ protocol: 84, version: 4 });
      const decision = route.routeTo('10.100.0.2');
      route.deleteNexthop(1);
      const result = { both, decision, floor: thrownBy(() => route.routeTo('10.100.0.2')) };
      route.deleteRoute({ destination, protocol: 84, type: 'unreachable' });
      route.close();
      return result;
    });
    expect(seen.both).toEqual([
      expect.objectContaining({ type: 'unicast', nexthopId: 1, gateway: '10.0.0.11' }),
      expect.objectContaining({ type: 'unreachable', metric: 4_000_000_000 }),
    ]);
    expect(seen.decision).toMatchObject({
      gateway: '10.0.0.11',
      source: '10.0.0.1',
      type: 'unicast',
      table: 254,
    });
    expect(seen.floor).toMatchObject({ errno: 'EHOSTUNREACH', request: 'find the route to 10.100.0.2' });
  });

  it('finds the way to a link-local address on the link that it is asked for', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const decision = route.routeTo('fe80::99%v0');
      const result = { decision, v0: linkIndex('v0'), missing: thrownBy(() => route.routeTo('fe80::99%v9')) };
      route.close();
      return result;
    });
    expect(seen.decision).toMatchObject({ type: 'unicast', interfaceIndex: seen.v0 });
    expect(seen.decision).not.toHaveProperty('gateway');
    expect(seen.missing).toMatchObject({ errno: 'ENODEV', isAnswer: true });
  });

  it('keeps an unreachable IPv6 floor', async () => {
    const found = await test.inside.run(({ linux }) => {
      const route = new linux.RouteSocket();
      const destination = '2001:db8:100::2/128';
      route.setRoute({ destination, protocol: 84, type: 'unreachable', metric: 4_000_000_000 });
      const routes = route.routes({ protocol: 84, version: 6 });
      route.deleteRoute({ destination, protocol: 84 });
      const after = route.routes({ protocol: 84, version: 6 });
      route.close();
      return { routes, after };
    });
    expect(found.routes).toEqual([
      expect.objectContaining({
        destination: '2001:db8:100::2/128',
        type: 'unreachable',
        metric: 4_000_000_000,
      }),
    ]);
    expect(found.after).toEqual([]);
  });

  it('dumps only the routes of the protocol, table and version asked for', async () => {
    const counts = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const common = { gateway: '10.0.0.11', interfaceIndex: linkIndex('v0') };
      for (let index = 0; index < 600; index++) {
        const destination = `10.20.${index >> 8}.${index & 255}/32`;
        route.setRoute({
          destination,
          protocol: 84 + (index % 2),
          table: index % 3 === 0 ? 254 : 2000,
          ...common,
        });
      }
      const count = (filter: object): number => route.routes(filter).length;
      const result = {
        protocol: count({ protocol: 84 }),
        table: count({ table: 2000 }),
        both: count({ protocol: 84, table: 2000 }),
        ipv6: count({ protocol: 84, version: 6 }),
        nothing: count({ table: 3000 }),
        kernel: route.routes().some((one) => one.destination === '10.0.0.0/24' && one.protocol === 2),
      };
      for (const one of [...route.routes({ protocol: 84 }), ...route.routes({ protocol: 85 })])
        route.deleteRoute(one);
      const left = count({ protocol: 84 }) + count({ protocol: 85 });
      route.close();
      return { ...result, left };
    });
    expect(counts).toEqual({
      protocol: 300,
      table: 400,
      both: 200,
      ipv6: 0,
      nothing: 0,
      kernel: true,
      left: 0,
    });
  });

  it("carries the kernel's own words in the error", async () => {
    const errors = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      const destination = '10.100.0.3/32';
      const seen = [
        thrownBy(() => route.setRoute({ destination, protocol: 84, nexthopId: 4711 })),
        thrownBy(() => route.setRoute({ destination, protocol: 84, gateway: '10.77.0.1', interfaceIndex })),
        thrownBy(() => route.deleteRoute({ destination, metric: 7 })),
      ];
      route.close();
      return seen;
    });
    expect(errors[0]).toMatchObject({
      name: 'NetlinkError',
      errno: 'EINVAL',
      code: 22,
      message: 'set route 10.100.0.3/32 table 254: EINVAL: Nexthop id does not exist',
    });
    expect(errors[1]).toMatchObject({ errno: 'ENETUNREACH', kernelText: 'Nexthop has invalid gateway' });
    expect(errors[2]).toMatchObject({ errno: 'ESRCH' });
    expect(errors[2]?.['message']).toMatch(/^delete route 10\.100\.0\.3\/32 table 254 metric 7: ESRCH: /);
  });

  it('reads a multipath route of someone else', async () => {
    const hops = ['nexthop', 'via', '10.0.0.11', 'weight', '3', 'nexthop', 'via', '10.0.0.12'];
    test.namespace.ip('route', 'add', '10.30.0.0/24', ...hops);
    const found = await test.inside.run(({ linux }) => {
      const route = new linux.RouteSocket();
      const [one] = route.routes({ version: 4 }).filter(({ destination }) => destination === '10.30.0.0/24');
      route.close();
      return one?.hops;
    });
    expect(found).toEqual([
      { interfaceIndex: expect.any(Number), gateway: '10.0.0.11', weight: 3 },
      { interfaceIndex: expect.any(Number), gateway: '10.0.0.12', weight: 1 },
    ]);
  });

  it('sends marked packets by the table that a rule names', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const rule = { version: 4, priority: 1000, mark: 0x8000_0007, table: 1007, protocol: 84 } as const;
      const interfaceIndex = linkIndex('v0');
      const destination = '10.100.0.4/32';
      route.setRoute({ destination, table: 1007, protocol: 84, gateway: '10.0.0.12', interfaceIndex });
      route.addRule(rule);
      const result = {
        rule: route.rules(4).find(({ priority }) => priority === 1000),
        ipv6: route.rules(6).some(({ priority }) => priority === 1000),
        again: thrownBy(() => route.addRule(rule)),
        marked: route.routeTo('10.100.0.4', { mark: 0x8000_0007 }),
        unmarked: thrownBy(() => route.routeTo('10.100.0.4')),
      };
      route.deleteRule(rule);
      const left = route.rules(4).some(({ priority }) => priority === 1000);
      const absent = thrownBy(() => route.deleteRule(rule));
      route.close();
      return { ...result, left, absent };
    });
    expect(seen.rule).toMatchObject({ action: 'table', table: 1007, mark: 0x8000_0007, protocol: 84 });
    expect(seen.marked).toMatchObject({ gateway: '10.0.0.12', table: 1007 });
    expect(seen).toMatchObject({
      ipv6: false,
      left: false,
      again: { errno: 'EEXIST' },
      unmarked: { errno: 'ENETUNREACH' },
      absent: { errno: 'ENOENT' },
    });
  });
});
