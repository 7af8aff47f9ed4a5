import { describe, expect, it } from 'vitest';
import { fairBuckets, movedBuckets, planMove } from './bucket-move.ts';
import type { NexthopGroup } from './kernel-objects.ts';

const group: NexthopGroup = {
  id: 1,
  members: [
    { id: 11, weight: 256 },
    { id: 12, weight: 256 },
    { id: 13, weight: 256 },
  ],
  resilient: { buckets: 12, idleTimer: 120, unbalancedTimer: 0 },
};
/** Six buckets each of 11 and 12, idle for 0 to 11 s; 13 is new. */
const buckets = Array.from({ length: 12 }, (_, index) => ({
  index,
  nexthopId: index % 2 === 0 ? 11 : 12,
  idleTime: index,
}));

describe('fair shares', () => {
  it('are by weight and sum up', () => {
    expect([...fairBuckets(group.members, 4096).values()]).toEqual([1365, 1366, 1365]);
    const weighted = [
      { id: 1, weight: 1 },
      { id: 2, weight: 256 },
    ];
    expect([...fairBuckets(weighted, 4096).values()]).toEqual([16, 4080]);
  });
});

describe('a step of a rebalance', () => {
  it.each([
    ['one bucket, the longest idle', 1, 100, 11],
    ['as many as it may', 3, 100, 9],
    ['no more than are missing', 100, 100, 8],
    ['no more busy ones than it may', 100, 2, 10],
    ['none when it may not', 100, 0, undefined],
  ])('moves %s', (_, most, mostBusy, idleTimer) => {
    expect(planMove(group, buckets, 13, most, mostBusy)).toEqual({ missing: 4, idleTimer });
  });

  it('moves idle buckets though no busy one may move', () => {
    const idle = buckets.map((bucket) => ({ ...bucket, idleTime: bucket.idleTime + 111 }));
    expect(planMove(group, idle, 13, 100, 0)).toEqual({ missing: 4, idleTimer: 120 });
  });

  it('takes from those that have too many only', () => {
    const uneven = buckets.map((bucket) => ({ ...bucket, nexthopId: bucket.index < 8 ? 11 : 12 }));
    // 12 has its four; the longest idle of 11 are 7, 6, 5 and 4.
    expect(planMove(group, uneven, 13, 100, 100)).toEqual({ missing: 4, idleTimer: 4 });
  });

  it('moves nothing to a member that has its share', () => {
    expect(planMove(group, buckets, 11, 100, 100)).toEqual({ missing: 0, idleTimer: undefined });
  });

  it('counts what has moved, and what of it was busy', () => {
    const after = buckets.map((bucket) => (bucket.index >= 10 ? { ...bucket, nexthopId: 13 } : bucket));
    expect(movedBuckets(buckets, after, 11)).toEqual({ moved: 2, busy: 1 });
  });
});
