import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

describe('the monitor', () => {
  const test = useNamespace('monitor', (namespace) => addVeth(namespace, '10.0.0.1/24'));

  it('tells of each kind of object that changes, with the object', async () => {
    const kinds = await test.inside.run(async ({ linux, linkIndex, until }) => {
      const route = new linux.RouteSocket();
      const seen: string[] = [];
      const monitor = new linux.RouteMonitor({
        changed: (kind, { action, object }) => seen.push(`${kind} ${action} ${JSON.stringify(object)}`),
        overflow: () => seen.push('overflow'),
        error: (error) => seen.push(String(error)),
      });
      const index = linkIndex('v0');
      const rule = { version: 6, priority: 77, mark: 7, table: 1007 } as const;
      route.setAddress({ index, address: '10.100.0.1', prefixLength: 32 });
      route.setNexthop({ id: 1, gateway: '10.0.0.11', interfaceIndex: index, protocol: 84 });
      route.setRoute({ destination: '10.100.0.2/32', protocol: 84, nexthopId: 1 });
      route.addRule(rule);
      route.setLinkIpv4Conf(index, { arpIgnore: 1 });
      route.deleteRule(rule);
      route.deleteRoute({ destination: '10.100.0.2/32' });
      route.deleteNexthop(1);
      route.deleteAddress({ index, address: '10.100.0.1', prefixLength: 32 });
      await until(() => seen.some((line) => line.startsWith('address deleted')), 2000);
      monitor.close();
      route.close();
      return seen;
    });
    const expected = [
      /^address set .*"address":"10\.100\.0\.1"/,
      /^nexthop set .*"id":1,.*"gateway":"10\.0\.0\.11"/,
      /^route set .*"destination":"10\.100\.0\.2\/32".*"nexthopId":1/,
      /^rule set .*"priority":77,/,
      /^rule deleted .*"priority":77,/,
      /^route deleted .*"destination":"10\.100\.0\.2\/32"/,
      /^nexthop deleted .*"id":1,/,
      /^address deleted .*"address":"10\.100\.0\.1"/,
    ];
    const order = expected.map((pattern) => kinds.findIndex((line) => pattern.test(line)));
    expect(order).not.toContain(-1);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  it('sees carrier loss as a change of the link, after which the next hop, its group and the route are gone', async () => {
    const waiting = test.inside.run(async ({ linux, linkIndex, until }) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('v0');
      route.setNexthop({ id: 1, gateway: '10.0.0.11', interfaceIndex: index, protocol: 84 });
      const resilient = { buckets: 32, idleTimer: 120, unbalancedTimer: 0 };
      route.setNexthopGroup({ id: 10, members: [{ id: 1, weight: 1 }], protocol: 84, resilient });
      route.setRoute({ destination: '10.100.0.3/32', protocol: 84, nexthopId: 10 });
      const count = (): number => route.nexthops().length + route.routes({ protocol: 84 }).length;
      const before = count();
      const kinds = new Set<string>();
      let lost = false;
      const monitor = new linux.RouteMonitor({
        changed: (kind, what) => {
          kinds.add(`${kind} ${what.action}`);
          if (what.kind === 'link' && what.object.index === index && !what.object.hasCarrier) lost = true;
        },
        overflow: () => {},
        error: () => {},
      });
      await until(() => lost, 5000);
      monitor.close();
      const after = count();
      route.close();
      return { before, after, nexthopTold: kinds.has('nexthop deleted') };
    });
    await test.inside.run(({ linux, until }) =>
      until(() => {
        const route = new linux.RouteSocket();
        const ready = route.routes({ protocol: 84 }).length === 1;
        route.close();
        return ready;
      }, 5000),
    );
    test.namespace.ip('link', 'set', 'v1', 'down');
    expect(await waiting).toEqual({ before: 3, after: 0, nexthopTold: false });
    test.namespace.ip('link', 'set', 'v1', 'up');
  });

  it('survives a flood: it listens again, asks for a resync once, and goes on telling', async () => {
    const seen = await test.inside.run(async ({ linux, linkIndex, until }) => {
      const route = new linux.RouteSocket();
      const index = linkIndex('v0');
      const destinations: string[] = [];
      const errors: string[] = [];
      let overflows = 0;
      const handlers = {
        changed: (_: string, what: { kind: string; object: object }) => {
          if ('destination' in what.object) destinations.push(String(what.object.destination));
        },
        overflow: () => {
          overflows += 1;
        },
        error: (error: Error) => errors.push(String(error)),
      };
      const monitor = new linux.RouteMonitor(handlers, ['route'], { receiveBuffer: 4096 });
      // The event loop does not turn meanwhile: nothing is read.
      for (let number = 0; number < 3000; number++) {
        const destination = `10.40.${number >> 8}.${number & 255}/32`;
        route.setRoute({ destination, protocol: 84, gateway: '10.0.0.11', interfaceIndex: index });
      }
      await until(() => overflows > 0, 5000);
      const told = destinations.length;
      route.deleteRoute({ destination: '10.40.0.0/32' });
      await until(() => destinations.length > told, 5000);
      for (const one of route.routes({ protocol: 84 })) route.deleteRoute(one);
      monitor.close();
      route.close();
      return { overflows, errors, lost: told < 3000, last: destinations[told] };
    });
    expect(seen).toEqual({ overflows: 1, errors: [], lost: true, last: '10.40.0.0/32' });
  });

  it('gives what a handler throws to the error handler, warns when that throws too, and lives on', async () => {
    const seen = await test.inside.run(async ({ linux, linkIndex, until }) => {
      const route = new linux.RouteSocket();
      const errors: string[] = [];
      const warnings: string[] = [];
      process.removeAllListeners('warning');
      process.on('warning', ({ message }) => warnings.push(message));
      let calls = 0;
      const monitor = new linux.RouteMonitor(
        {
          changed: () => {
            calls += 1;
            throw new Error(`call ${calls}`);
          },
          overflow: () => {},
          error: (error) => {
            errors.push(error.message);
            throw error;
          },
        },
        ['nexthop'],
      );
      const nexthop = { gateway: '10.0.0.11', interfaceIndex: linkIndex('v0'), protocol: 84 };
      for (const id of [1, 2]) route.setNexthop({ id, ...nexthop });
      await until(() => warnings.length === 2, 2000);
      for (const id of [1, 2]) route.deleteNexthop(id);
      monitor.close();
      await new Promise((resolve) => setTimeout(resolve, 50));
      route.close();
      return { errors, warnings };
    });
    expect(seen).toEqual({ errors: ['call 1', 'call 2'], warnings: ['call 1', 'call 2'] });
  });
});
