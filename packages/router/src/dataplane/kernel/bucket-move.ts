import type { NexthopBucket, RouteSocket } from '@bgp-lb/linux';
import type { BucketMove } from '../data-plane.ts';
import { readBuckets } from './kernel-access.ts';
import type { NexthopGroup } from './kernel-objects.ts';
import type { KernelReconciler } from './kernel-reconciler.ts';

/** Which buckets of a resilient group are to move, so that a member gets nearer to its fair share. */
export interface BucketPlan {
  /** How many more the member should have. */
  readonly missing: number;
  /** Buckets that have been idle for so long (s) may move; `undefined`: none shall. */
  readonly idleTimer: number | undefined;
}

/**
 * How many buckets each member of a group should have, by its weight: rounded on the running sum, as the kernel does
 * (nh_res_group_rebalance).
 */
export function fairBuckets(members: NexthopGroup['members'], total: number): ReadonlyMap<number, number> {
  const sum = members.reduce((all, { weight }) => all + weight, 0);
  let upTo = 0;
  let given = 0;
  return new Map(
    members.map(({ id, weight }) => {
      upTo += weight;
      const bound = Math.round((total * upTo) / sum);
      const share = bound - given;
      given = bound;
      return [id, share];
    }),
  );
}

/**
 * The kernel moves a bucket only from a member that has too many, when it has been idle for the group's idle timer. So for
 * a moment the timer is made as short as the idle time of the last bucket that shall move: the longest idle go first.
 * Where several have been idle for the same hundredths of a second, they go together.
 * @param most buckets that may move, busy ones among them
 * @param mostBusy of those that carried a packet within the group's own idle timer
 */
export function planMove(
  group: NexthopGroup,
  buckets: readonly NexthopBucket[],
  target: number,
  most: number,
  mostBusy: number,
): BucketPlan {
  const fair = fairBuckets(group.members, buckets.length);
  const owned = countByMember(buckets);
  const missing = Math.max(0, (fair.get(target) ?? 0) - (owned.get(target) ?? 0));
  const surplus = new Map([...fair].map(([id, share]) => [id, Math.max(0, (owned.get(id) ?? 0) - share)]));
  const longestFirst = [...buckets].sort((a, b) => b.idleTime - a.idleTime);
  const movable: NexthopBucket[] = [];
  for (const bucket of longestFirst) {
    const left = surplus.get(bucket.nexthopId) ?? 0;
    if (left > 0) {
      surplus.set(bucket.nexthopId, left - 1);
      movable.push(bucket);
    }
  }
  const own = group.resilient?.idleTimer ?? 0;
  const idle = movable.filter(({ idleTime }) => idleTime >= own).length;
  const count = Math.min(most, missing, movable.length, idle + mostBusy);
  return { missing, idleTimer: count === 0 ? undefined : movable[count - 1]?.idleTime };
}

/** How many buckets have another owner than before, and how many of them were busy. */
export function movedBuckets(
  before: readonly NexthopBucket[],
  after: readonly NexthopBucket[],
  idleTimer: number,
): { readonly moved: number; readonly busy: number } {
  const owners = new Map(after.map(({ index, nexthopId }) => [index, nexthopId]));
  const moved = before.filter(({ index, nexthopId }) => owners.get(index) !== nexthopId);
  return { moved: moved.length, busy: moved.filter(({ idleTime }) => idleTime < idleTimer).length };
}

function countByMember(buckets: readonly NexthopBucket[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { nexthopId } of buckets) {
    counts.set(nexthopId, (counts.get(nexthopId) ?? 0) + 1);
  }
  return counts;
}

/** One step: see `BucketMover.moveBuckets`. */
export function moveBuckets(step: {
  readonly reconciler: Pick<KernelReconciler, 'known' | 'pulse'>;
  /** The VIP's; `undefined` when it has none. */
  readonly group: NexthopGroup | undefined;
  readonly nextHop: string;
  readonly limits: { readonly part: number; readonly mostBusy: number };
  readonly socket: Pick<RouteSocket, 'nexthopBuckets'>;
}): BucketMove {
  const { reconciler, group, nextHop, limits, socket } = step;
  const target = [...reconciler.known.nexthops.values()].find(({ gateway }) => gateway === nextHop)?.id;
  if (group === undefined || target === undefined || !group.members.some(({ id }) => id === target)) {
    return { problem: `nothing is forwarded to ${nextHop}` };
  }
  const before = readBuckets(socket, group.id);
  const most = Math.ceil(before.length * limits.part);
  const { missing, idleTimer } = planMove(group, before, target, most, limits.mostBusy);
  if (idleTimer === undefined) {
    return { moved: 0, busy: 0, missing };
  }
  const problem = reconciler.pulse(group, idleTimer);
  if (problem !== undefined) {
    return { problem };
  }
  const after = readBuckets(socket, group.id);
  const left = planMove(group, after, target, 0, 0).missing;
  return { ...movedBuckets(before, after, group.resilient?.idleTimer ?? 0), missing: left };
}
