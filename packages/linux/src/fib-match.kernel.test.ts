import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('the route of a packet that comes in', () => {
  const test = useNamespace('fib-match', (namespace) => {
    addVeth(namespace, '10.0.0.1/24', 'fd00::1/64');
    namespace.ip('address', 'add', '10.0.1.1/24', 'dev', 'v1');
    namespace.ip('address', 'add', 'fd00:1::1/64', 'dev', 'v1', 'nodad');
    namespace.ip('nexthop', 'add', 'id', '7', 'via', '10.0.0.11', 'dev', 'v0');
    namespace.ip('nexthop', 'add', 'id', '8', 'via', 'fd00::11', 'dev', 'v0');
    namespace.ip('route', 'add', '10.100.0.1', 'nhid', '7', 'protocol', '84', 'metric', '84');
    namespace.ip('route', 'add', 'fd00:100::1', 'nhid', '8', 'protocol', '84', 'metric', '84');
    namespace.ip('route', 'add', 'unreachable', 'default', 'table', '77');
    namespace.ip('route', 'add', 'default', 'via', '10.0.0.99', 'table', '78');
    namespace.ip('-6', 'route', 'add', 'unreachable', 'default', 'table', '77');
    namespace.ip('-6', 'route', 'add', 'default', 'via', 'fd00::99', 'table', '78');
  });

  it.each([
    ['-4', '10.100.0.1', '10.0.1.50', '10.0.1.0/25', 32, 7],
    ['-6', 'fd00:100::1', 'fd00:1::50', 'fd00:1::/96', 128, 8],
  ] as const)(
    'is the one that rules by interface, source and port lead to: %s',
    async (family, destination, source, sources, length, id) => {
      test.namespace.execute('sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1');
      const ask = () =>
        test.inside.run(
          ({ linux, linkIndex, thrownBy }, [from, to]) => {
            const route = new linux.RouteSocket();
            const packet = {
              source: from,
              destination: to,
              destinationPort: 6443,
              interfaceIndex: linkIndex('v1'),
            };
            const refusal = thrownBy(() => route.routeOf(packet));
            const found = refusal === undefined ? route.routeOf(packet) : undefined;
            const rules = [...route.rules(4), ...route.rules(6)].filter(({ priority }) => priority === 100);
            route.close();
            const { table, protocol, nexthopId, metric } = found ?? {};
            return { table, protocol, nexthopId, metric, destination: found?.destination, refusal, rules };
          },
          [source, destination] as const,
        );
      const rule = (...selector: readonly string[]): void => {
        test.namespace.ip(family, 'rule', 'add', 'pref', '100', ...selector);
      };
      expect(await ask()).toMatchObject({
        table: 254,
        protocol: 84,
        nexthopId: id,
        destination: `${destination}/${length}`,
        metric: 84,
      });
      for (const selector of [
        ['iif', 'v1'],
        ['from', sources],
        ['ipproto', 'tcp', 'dport', '6443'],
      ]) {
        rule(...selector, 'lookup', '78');
        const other = await ask();
        expect(other).toMatchObject({ table: 78 });
        expect(other.nexthopId).toBeUndefined();
        test.namespace.ip(family, 'rule', 'del', 'pref', '100');
        rule(...selector, 'lookup', '77');
        expect((await ask()).refusal).toMatchObject({ name: 'NetlinkError' });
        test.namespace.ip(family, 'rule', 'del', 'pref', '100');
      }
      // One that this host sends: all ways of its route.
      const two = family === '-4' ? ['10.0.0.11', '10.0.1.11'] : ['fd00::11', 'fd00:1::11'];
      const far = family === '-4' ? '198.51.100.1' : '2001:db8::1';
      test.namespace.ip(family, 'route', 'add', far, ...two.flatMap((via) => ['nexthop', 'via', via]));
      const sent = test.inside.run(({ linux }, to) => {
        const route = new linux.RouteSocket();
        const found = route.routeOf({ destination: to, destinationPort: 179 });
        route.close();
        return found;
      }, far);
      expect((await sent)?.hops?.map(({ gateway }) => gateway).sort()).toEqual([...two].sort());
      rule('ipproto', 'tcp', 'dport', '6000-7000', 'lookup', '78');
      expect((await ask()).rules).toMatchObject([
        { ipProtocol: 6, destinationPorts: [6000, 7000], table: 78 },
      ]);
      test.namespace.ip(family, 'rule', 'del', 'pref', '100');
    },
  );
});
