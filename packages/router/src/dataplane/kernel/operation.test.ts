import { describe, expect, it } from 'vitest';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import {
  desiredObjects,
  FLOOR_METRIC,
  KnownProbePaths,
  type Resolution,
  type Wanted,
} from './desired-objects.ts';
import { type KernelObjects, noObjects, routeKey } from './kernel-objects.ts';
import { after } from './kernel-reconciler.ts';
import { ObjectIds } from './object-ids.ts';
import { describeOperation, operations } from './operation.ts';

const vip = '10.100.0.1/32';

function nextHops(...members: string[]): WeightedNextHop[] {
  return members.map((nextHop) => ({ nextHop, weight: 256 }));
}

function wanted(changed: Partial<Wanted> = {}): Wanted {
  return {
    vips: new Map([[vip, nextHops('10.0.0.11', '10.0.0.12')]]),
    probed: new Map(),
    replyMark: 0x84000,
    resolve: (): Resolution => ({ interfaceIndex: 2, interfaceName: 'eth0' }),
    table: 254,
    resilient: { buckets: 1024, idleTimer: 120, unbalancedTimer: 0 },
    ...changed,
  };
}

/** Applies what is missing and returns the steps in words, with the objects afterwards. */
function step(want: Wanted, ids: ObjectIds, actual: KernelObjects): { words: string[]; now: KernelObjects } {
  const list = operations(desiredObjects(want, ids, actual), actual);
  return { words: list.map(describeOperation), now: list.reduce(after, actual) };
}

function kinds(words: readonly string[]): string[] {
  return words.map((line) => line.split(' ', 1)[0] ?? '');
}

describe('the order of operations', () => {
  it('puts the floor first and the route last when a pool begins', () => {
    const { words } = step(wanted(), new ObjectIds([vip]), noObjects);
    expect(kinds(words)).toEqual(['set-route', 'set-nexthop', 'set-nexthop', 'set-group', 'set-route']);
    expect(words[0]).toContain(`(unreachable) table 254 metric ${FLOOR_METRIC}`);
    expect(words[4]).toContain('(group)');
  });

  it('does nothing when everything is as wanted', () => {
    const ids = new ObjectIds([vip]);
    const { now } = step(wanted(), ids, noObjects);
    expect(step(wanted(), ids, now).words).toEqual([]);
  });

  it('replaces the group in place before it deletes the next hop of a member that left', () => {
    const ids = new ObjectIds([vip]);
    const { now } = step(wanted(), ids, noObjects);
    const { words } = step(wanted({ vips: new Map([[vip, nextHops('10.0.0.12')]]) }), ids, now);
    // The first is the twin of the one that is alone now.
    expect(kinds(words)).toEqual(['set-nexthop', 'set-group', 'delete-nexthop']);
  });

  it('leaves the floor when the pool is empty, and deletes route, group and next hops in that order', () => {
    const ids = new ObjectIds([vip]);
    const { now } = step(wanted(), ids, noObjects);
    const { words, now: empty } = step(wanted({ vips: new Map([[vip, []]]) }), ids, now);
    expect(kinds(words)).toEqual(['delete-route', 'delete-group', 'delete-nexthop', 'delete-nexthop']);
    expect([...empty.routes.keys()]).toEqual([
      routeKey({ destination: vip, table: 254, metric: FLOOR_METRIC }),
    ]);
  });

  it('changes only a weight by one request', () => {
    const ids = new ObjectIds([vip]);
    const { now } = step(wanted(), ids, noObjects);
    const drained = new Map([
      [
        vip,
        [
          { nextHop: '10.0.0.11', weight: 1 },
          { nextHop: '10.0.0.12', weight: 256 },
        ],
      ],
    ]);
    const { words } = step(wanted({ vips: drained }), ids, now);
    expect(words).toHaveLength(1);
    expect(words[0]).toMatch(/^set-group \d+: 84004000 x1, 84004001 x256$/);
  });

  it('moves the route to a new group before it deletes one whose bucket count is not as wanted', () => {
    const ids = new ObjectIds([vip]);
    const { now } = step(wanted(), ids, noObjects);
    const resilient = { buckets: 4096, idleTimer: 120, unbalancedTimer: 0 };
    const { words, now: moved } = step(wanted({ resilient }), ids, now);
    expect(kinds(words)).toEqual(['set-group', 'set-route', 'delete-group']);
    expect(step(wanted({ resilient }), ids, moved).words).toEqual([]);
  });

  it('removes everything of a VIP that is not configured any more', () => {
    const { now } = step(wanted(), new ObjectIds([vip]), noObjects);
    const { now: gone } = step(wanted({ vips: new Map() }), new ObjectIds([]), now);
    expect(gone).toEqual(noObjects);
  });
});

describe('next hops', () => {
  it('leaves out one that cannot be resolved and keeps the others', () => {
    const resolve = (nextHop: string): Resolution =>
      nextHop === '10.0.0.11' ? { problem: 'eth0 is down' } : { interfaceIndex: 2, interfaceName: 'eth0' };
    const { now } = step(wanted({ resolve }), new ObjectIds([vip]), noObjects);
    expect(new Set([...now.nexthops.values()].map(({ gateway }) => gateway))).toEqual(new Set(['10.0.0.12']));
  });

  it('have a twin when they are alone, which stays for as long as they do, also over a restart', () => {
    const pool = (...addresses: string[]) => wanted({ vips: new Map([[vip, nextHops(...addresses)]]) });
    const groupOf = ({ groups }: KernelObjects): string[] =>
      [...groups.values()].flatMap(({ members }) => members.map(({ id, weight }) => `${id} x${weight}`));
    const ids = new ObjectIds([vip]);
    const { now: alone } = step(pool('10.0.0.11'), ids, noObjects);
    expect(groupOf(alone)).toEqual(['84004000 x256', '84008000 x1']);
    const again = new ObjectIds([vip]);
    again.adopt(alone);
    expect(step(pool('10.0.0.11'), again, alone).words).toEqual([]);
    const { now: two } = step(pool('10.0.0.11', '10.0.0.12'), again, alone);
    expect(groupOf(two)).toEqual(['84004000 x256', '84004001 x256', '84008000 x1']);
    const { now: other } = step(pool('10.0.0.12'), again, two);
    expect(groupOf(other)).toEqual(['84004001 x256', '84008001 x1']);
    expect([...other.nexthops.keys()].sort()).toEqual([84_004_001, 84_008_001]);
  });

  it('have no route but the floor when none can be resolved', () => {
    const resolve = (): Resolution => ({ problem: 'eth0 is down' });
    const { now } = step(wanted({ resolve }), new ObjectIds([vip]), noObjects);
    expect([...now.routes.values()].map(({ target }) => target.kind)).toEqual(['unreachable']);
  });
});

describe('ids', () => {
  it('are the same after a restart, for groups by the VIP and for members by the kernel', () => {
    const { now } = step(wanted(), new ObjectIds([vip, '10.100.0.2/32']), noObjects);
    const again = new ObjectIds(['10.100.0.2/32', vip]);
    again.adopt(now);
    const reordered = wanted({ vips: new Map([[vip, nextHops('10.0.0.12', '10.0.0.11')]]) });
    expect(kinds(step(reordered, again, now).words)).toEqual([]);
  });

  it('of a VIP stay when others come and go, and are found again by the route after a restart', () => {
    // Of these two, the first in order has the place that both would have.
    const [taken, other] = ['10.100.0.30/32', '10.100.0.52/32'];
    const alone = new ObjectIds([other]);
    const id = alone.group(other, 1024, noObjects);
    expect(new ObjectIds([taken]).group(taken, 1024, noObjects)).toBe(id);
    expect(new ObjectIds([taken, other]).group(other, 1024, noObjects)).not.toBe(id);
    const vips = new Map([[other, nextHops('10.0.0.11')]]);
    const { now } = step(wanted({ vips }), alone, noObjects);
    alone.setVips([taken, other]);
    expect(alone.group(other, 1024, now)).toBe(id);
    expect(alone.group(taken, 1024, now)).not.toBe(id);
    const again = new ObjectIds([taken, other]);
    again.adoptGroups(now);
    expect(again.group(other, 1024, now)).toBe(id);
    expect(again.group(taken, 1024, now)).not.toBe(id);
  });

  it('that others use are left alone', () => {
    const ids = new ObjectIds([vip]);
    const first = ids.group(vip, 1024, noObjects);
    ids.setForeign(new Set([first, 84_004_000]));
    expect(ids.group(vip, 1024, noObjects)).toBe(first + 1);
    expect(ids.member('10.0.0.11')).toBe(84_004_001);
  });
});

describe('probe paths', () => {
  const probed = new Map([
    ['10.0.0.11', 0x84001],
    ['10.0.0.12', 0x84002],
  ]);

  it('have a rule and a table for each member and one for the answers, each with a floor', () => {
    const { now } = step(wanted({ probed }), new ObjectIds([vip]), noObjects);
    expect([...now.rules.values()].map(({ mark, table }) => [mark, table])).toEqual([
      [0x84001, 0x84001],
      [0x84002, 0x84002],
      [0x84000, 0x84000],
    ]);
    for (const table of [0x84000, 0x84001, 0x84002]) {
      const kindsOf = [...now.routes.values()].filter((route) => route.table === table);
      expect(kindsOf.map(({ target }) => target.kind).sort()).toEqual(['gateway', 'unreachable']);
    }
  });

  it('never fall through to the main table when the member has no way', () => {
    const resolve = (): Resolution => ({ problem: 'eth0 is down' });
    const { now } = step(wanted({ probed, resolve }), new ObjectIds([vip]), noObjects);
    const inTable = [...now.routes.values()].filter(({ table }) => table === 0x84001);
    expect(inTable.map(({ target }) => target.kind)).toEqual(['unreachable']);
    expect(now.rules.size).toBe(2);
  });

  it('are made anew when who is probed, a mark, a way or the set of VIPs changes, and for nothing else', () => {
    const known = new KnownProbePaths();
    const first = known.of(wanted({ probed }));
    const pool = new Map([[vip, nextHops('10.0.0.11')]]);
    expect(known.of(wanted({ probed: new Map(probed), vips: pool }))).toBe(first);
    const changes: Partial<Wanted>[] = [
      { probed: new Map([['10.0.0.11', 0x84001]]) },
      { probed: new Map([...probed, ['10.0.0.12', 0x84003]]) },
      { probed, resolve: () => ({ interfaceIndex: 3, interfaceName: 'eth1' }) },
      { probed, resolve: () => ({ problem: 'eth0 is down' }) },
      { probed, replyMark: 0x85000 },
      { probed, vips: new Map([['10.100.0.2/32', []]]) },
    ];
    for (const change of changes) {
      expect(known.of(wanted({ probed }))).toEqual(first);
      expect(known.of(wanted(change))).not.toEqual(first);
    }
  });
});
