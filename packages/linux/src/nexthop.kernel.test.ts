import { release } from 'node:os';
import { describe, expect, it } from 'vitest';
import { addVeth, useNamespace } from './testing/use-namespace.ts';

const [major = 0, minor = 0] = release().split('.').map(Number);
/** Kernels before 6.9 do not count the packets of a group. */
const countsPackets = major > 6 || (major === 6 && minor >= 9);

describe('next hops in the kernel', () => {
  const test = useNamespace('nexthop', (namespace) => addVeth(namespace, '10.0.0.1/24', '2001:db8::1/64'));

  it('sets, lists by protocol, replaces and deletes next hops of both versions', async () => {
    const seen = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      route.setNexthop({ id: 1, gateway: '10.0.0.11', interfaceIndex, protocol: 84 });
      route.setNexthop({ id: 2, gateway: '2001:db8::11', interfaceIndex, protocol: 84 });
      route.setNexthop({ id: 3, gateway: '10.77.0.1', interfaceIndex, protocol: 85, onLink: true });
      route.setNexthop({ id: 1, gateway: '10.0.0.12', interfaceIndex, protocol: 84 });
      const listed = route.nexthops({ protocol: 84 });
      const all = route.nexthops();
      for (const id of [1, 2, 3]) route.deleteNexthop(id);
      const absent = thrownBy(() => route.deleteNexthop(1));
      const left = route.nexthops();
      route.close();
      return { interfaceIndex, listed, all, absent, left };
    });
    const common = { interfaceIndex: seen.interfaceIndex, protocol: 84, isBlackhole: false, flags: 0 };
    expect(seen.listed).toEqual([
      { id: 1, gateway: '10.0.0.12', ...common },
      { id: 2, gateway: '2001:db8::11', ...common },
    ]);
    expect(seen.all).toHaveLength(3);
    expect(seen.all[2]).toMatchObject({ id: 3, protocol: 85, flags: 4 });
    expect(seen.absent).toMatchObject({ errno: 'ENOENT', request: 'delete next hop 1' });
    expect(seen.left).toEqual([]);
  });

  it('keeps the buckets of the survivors when a resilient group is replaced without one member', async () => {
    const seen = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      const ids = [11, 12, 13, 14, 15];
      for (const id of ids) route.setNexthop({ id, gateway: `10.0.0.${id}`, interfaceIndex, protocol: 84 });
      const resilient = { buckets: 256, idleTimer: 120.5, unbalancedTimer: 0 };
      const membersOf = (some: readonly number[]) => some.map((id) => ({ id, weight: 256 }));
      route.setNexthopGroup({ id: 100, members: membersOf(ids), protocol: 84, resilient });
      const group = route.nexthops().find(({ id }) => id === 100);
      const before = route.nexthopBuckets(100);
      const survivors = ids.filter((id) => id !== 12);
      route.setNexthopGroup({ id: 100, members: membersOf(survivors), protocol: 84, resilient });
      const after = route.nexthopBuckets(100);
      route.deleteNexthop(100);
      for (const id of ids) route.deleteNexthop(id);
      route.close();
      return { group, before, after };
    });
    expect(seen.group).toEqual({
      id: 100,
      protocol: 84,
      isBlackhole: false,
      flags: 0,
      group: [11, 12, 13, 14, 15].map((id) => ({ id, weight: 256 })),
      resilient: { buckets: 256, idleTimer: 120.5, unbalancedTimer: 0 },
    });
    expect(seen.before.map(({ index }) => index)).toEqual(Array.from({ length: 256 }, (_, index) => index));
    const moved = seen.before.filter(({ nexthopId }, index) => seen.after[index]?.nexthopId !== nexthopId);
    expect(moved.length).toBeGreaterThan(40);
    expect(new Set(moved.map(({ nexthopId }) => nexthopId))).toEqual(new Set([12]));
    expect(seen.after.some(({ nexthopId }) => nexthopId === 12)).toBe(false);
  });

  it('counts the packets of each member of a group, from when it was last replaced', async () => {
    const seen = await test.inside.run(async ({ linux, linkIndex }) => {
      const { createSocket } = process.getBuiltinModule('node:dgram');
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      const ids = [31, 32];
      for (const id of ids) route.setNexthop({ id, gateway: `10.0.0.${id}`, interfaceIndex, protocol: 84 });
      const group = {
        id: 300,
        members: ids.map((id) => ({ id, weight: 1 })),
        protocol: 84,
        resilient: { buckets: 64, idleTimer: 120, unbalancedTimer: 0 },
      };
      route.setNexthopGroup(group);
      route.setRoute({ destination: '10.50.0.0/24', nexthopId: 300, protocol: 84 });
      const counts = () => {
        const packets = route.nexthopGroupPackets(300);
        return packets && [...packets].sort();
      };
      const before = counts();
      const socket = createSocket('udp4');
      for (let host = 1; host <= 100; host++) {
        await new Promise((resolve) => socket.send('x', 9, `10.50.0.${host}`, resolve));
      }
      socket.close();
      const after = counts();
      route.setNexthopGroup(group);
      const replaced = counts();
      route.deleteNexthop(300);
      for (const id of ids) route.deleteNexthop(id);
      route.close();
      return { before, after, replaced };
    });
    if (!countsPackets) {
      expect(seen).toEqual({ before: undefined, after: undefined, replaced: undefined });
      return;
    }
    const none = [
      [31, 0],
      [32, 0],
    ];
    expect(seen.before).toEqual(none);
    expect(seen.after?.map(([id]) => id)).toEqual([31, 32]);
    expect(seen.after?.every(([, packets]) => packets > 0)).toBe(true);
    expect(seen.after?.reduce((sum, [, packets]) => sum + packets, 0)).toBeGreaterThanOrEqual(100);
    expect(seen.replaced).toEqual(none);
  });

  it('shares the buckets by weight', async () => {
    const share = await test.inside.run(({ linux, linkIndex }) => {
      const route = new linux.RouteSocket();
      const interfaceIndex = linkIndex('v0');
      for (const id of [21, 22])
        route.setNexthop({ id, gateway: `10.0.0.${id}`, interfaceIndex, protocol: 84 });
      const members = [
        { id: 21, weight: 3 },
        { id: 22, weight: 1 },
      ];
      const resilient = { buckets: 64, idleTimer: 60, unbalancedTimer: 0 };
      route.setNexthopGroup({ id: 200, members, protocol: 84, resilient });
      const count = route.nexthopBuckets(200).filter(({ nexthopId }) => nexthopId === 21).length;
      route.deleteNexthop(21);
      const shrunk = route.nexthops().find(({ id }) => id === 200)?.group;
      route.deleteNexthop(200);
      route.deleteNexthop(22);
      route.close();
      return { count, shrunk };
    });
    expect(share).toEqual({ count: 48, shrunk: [{ id: 22, weight: 1 }] });
  });

  it('passes on why the kernel refuses a group', async () => {
    const errors = await test.inside.run(({ linux, linkIndex, thrownBy }) => {
      const route = new linux.RouteSocket();
      route.setNexthop({ id: 31, gateway: '10.0.0.31', interfaceIndex: linkIndex('v0'), protocol: 84 });
      const members = [{ id: 31, weight: 1 }];
      const resilient = { buckets: 32, idleTimer: 60, unbalancedTimer: 0 };
      route.setNexthopGroup({ id: 300, members, protocol: 84, resilient });
      const larger = { ...resilient, buckets: 64 };
      const seen = [
        thrownBy(() => route.setNexthopGroup({ id: 300, members, protocol: 84, resilient: larger })),
        thrownBy(() => route.setNexthopGroup({ id: 301, members: [], protocol: 84 })),
        thrownBy(() => route.setNexthopGroup({ id: 301, members: [{ id: 31, weight: 257 }], protocol: 84 })),
        thrownBy(() => route.setNexthopGroup({ id: 301, members: [{ id: 4711, weight: 1 }], protocol: 84 })),
        thrownBy(() => route.nexthopBuckets(31)),
      ];
      route.deleteNexthop(31);
      route.close();
      return seen;
    });
    expect(errors[0]?.['message']).toBe(
      'set next hop group 300 to [31x1]: EINVAL: Can not change number of buckets of a resilient nexthop group.',
    );
    expect(errors[1]).toMatchObject({ name: 'NetlinkError', errno: 'EINVAL' });
    expect(errors[2]?.['message']).toBe('weight of next hop 31 in group 301: 257; allowed are 1 to 256');
    expect(errors[3]).toMatchObject({
      name: 'NetlinkError',
      errno: 'EINVAL',
      kernelText: 'Invalid nexthop id',
    });
    expect(errors[4]).toMatchObject({ name: 'NetlinkError', kernelText: 'Not a nexthop group' });
  });
});
