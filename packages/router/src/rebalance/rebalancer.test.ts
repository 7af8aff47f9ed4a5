import { beforeEach, expect, it } from 'vitest';
import type { BucketMove } from '../dataplane/data-plane.ts';
import { ManualClock } from '../testing/manual-clock.ts';
import { vipOf } from '../testing/vip-of.ts';
import { type Rebalance, Rebalancer } from './rebalancer.ts';

let clock: ManualClock;
let missing: number;
let asked: { readonly part: number; readonly mostBusy: number }[];
let changes: Rebalance[];
let move: (limits: { part: number; mostBusy: number }) => BucketMove;
let rebalancer: Rebalancer;

beforeEach(() => {
  clock = new ManualClock();
  missing = 100;
  asked = [];
  changes = [];
  // A thousand buckets, every second one of them busy.
  move = ({ part, mostBusy }) => {
    const moved = Math.min(missing, part * 1000, mostBusy * 2);
    missing -= moved;
    return { moved, busy: moved / 2, missing };
  };
  rebalancer = new Rebalancer(
    {
      kind: 'kernel',
      buckets: {
        moveBuckets: (_vip, _member, limits) => {
          asked.push(limits);
          return move(limits);
        },
      },
    },
    clock,
    (rebalance) => changes.push(rebalance),
  );
});

it('moves a part of the buckets each second until nothing is missing, and says what it cost', () => {
  expect(rebalancer.start('v', 'm', { rate: 0.04, mostBusy: 1000 })).toMatchObject({
    state: 'running',
    moved: 40,
    missing: 60,
  });
  clock.advance(999);
  expect(asked).toHaveLength(1);
  clock.advance(10_000);
  expect(asked).toHaveLength(3);
  expect(rebalancer.all()).toEqual([
    { vip: 'v', member: 'm', state: 'done', moved: 100, busy: 50, missing: 0, reason: '' },
  ]);
  expect(changes.map(({ state, moved }) => [state, moved])).toEqual([
    ['running', 0],
    ['done', 100],
  ]);
});

it('moves no more busy buckets than it may', () => {
  rebalancer.start('v', 'm', { rate: 0.04, mostBusy: 30 });
  clock.advance(60_000);
  expect(rebalancer.all()[0]).toMatchObject({ state: 'stopped', moved: 60, busy: 30, missing: 40 });
  expect(rebalancer.all()[0]?.reason).toBe('30 busy buckets have moved, which is the limit');
});

it('stops when the member is not forwarded to, and when nothing moves', () => {
  move = () => ({ problem: 'm is not forwarded to' });
  expect(rebalancer.start('v', 'm', { rate: 1, mostBusy: 9 })).toMatchObject({
    state: 'stopped',
    reason: 'm is not forwarded to',
  });
  move = () => ({ moved: 0, busy: 0, missing: 5 });
  rebalancer.start('v', 'm', { rate: 1, mostBusy: 9 });
  clock.advance(60_000);
  expect(rebalancer.all()[0]).toMatchObject({ state: 'stopped', reason: 'no bucket can be moved' });
});

it('has one for each VIP, and a new one takes its place', () => {
  rebalancer.start('v', 'm', { rate: 0.01, mostBusy: 1000 });
  rebalancer.start('v', 'n', { rate: 0.02, mostBusy: 1000 });
  clock.advance(1000);
  expect(asked.map(({ part }) => part)).toEqual([0.01, 0.02, 0.02]);
  rebalancer.close();
  clock.advance(60_000);
  expect(asked).toHaveLength(3);
});

it('ends with its VIP', () => {
  rebalancer.start('10.100.0.1/32', 'm', { rate: 0.01, mostBusy: 1000 });
  rebalancer.start('10.100.0.2/32', 'm', { rate: 0.01, mostBusy: 1000 });
  rebalancer.configure({ vips: [vipOf('10.100.0.2')] });
  clock.advance(1000);
  expect(asked).toHaveLength(3);
  expect(rebalancer.all().map(({ vip }) => vip)).toEqual(['10.100.0.2/32']);
});

it('says where a data plane has no buckets, and which has', () => {
  const unable = new Rebalancer({ kind: 'haproxy' }, clock, (rebalance) => changes.push(rebalance));
  expect(unable.unable).toMatch(/`haproxy` .* only `kernel` has them/);
  expect(() => unable.start('v', 'm', { rate: 1, mostBusy: 9 })).toThrow(/no hash buckets/);
  expect(rebalancer.unable).toBeUndefined();
  expect(changes).toEqual([]);
});
