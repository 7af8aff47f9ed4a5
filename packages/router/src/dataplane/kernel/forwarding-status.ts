import type { NexthopBucket } from '@bgp-lb/linux';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { ForwardingShare, VipForwarding } from '../data-plane.ts';
import { FLOOR_METRIC, ROUTE_METRIC } from './desired-objects.ts';
import { type KernelObjects, type NexthopGroup, routeKey } from './kernel-objects.ts';
import type { NextHopResolver } from './next-hop-resolver.ts';

export interface ForwardingQuestion {
  readonly vip: string;
  /** The next hops that are wanted. */
  readonly nextHops: readonly WeightedNextHop[];
  /** It was withdrawn, and goes in a moment. */
  readonly isLeaving: boolean;
  readonly table: number;
  readonly known: KernelObjects;
  readonly resolver: NextHopResolver;
  /** Reads the buckets of a group from the kernel. */
  readonly buckets: (groupId: number) => readonly NexthopBucket[];
  /** Reads how many packets a group's members had, by their ids; `undefined` where they are not counted. */
  readonly packets: (groupId: number) => ReadonlyMap<number, number> | undefined;
}

/** What the kernel does for a VIP, with each member's share of the hash buckets. */
export function vipForwarding(question: ForwardingQuestion): VipForwarding {
  const { vip, table, known } = question;
  const route = known.routes.get(routeKey({ destination: vip, table, metric: ROUTE_METRIC }));
  const floor = known.routes.has(routeKey({ destination: vip, table, metric: FLOOR_METRIC }));
  const group = route?.target.kind === 'group' ? known.groups.get(route.target.id) : undefined;
  const counts = bucketCounts(group, question.buckets);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const packets = group && question.packets(group.id);
  return {
    vip,
    forwarding: group !== undefined,
    members: question.nextHops.map((member) => share(member, question, group, { counts, total, packets })),
    detail: {
      table,
      metric: ROUTE_METRIC,
      floor,
      ...(question.isLeaving && { leaving: true }),
      ...(group && { groupId: group.id }),
      ...(group?.resilient && { buckets: group.resilient.buckets, idleTimer: group.resilient.idleTimer }),
    },
  };
}

/** What was counted of a group, by the ids of its members. */
interface GroupCounts {
  readonly counts: ReadonlyMap<number, number>;
  /** All buckets. */
  readonly total: number;
  readonly packets: ReadonlyMap<number, number> | undefined;
}

function share(
  { nextHop, weight }: WeightedNextHop,
  { known, resolver }: ForwardingQuestion,
  group: NexthopGroup | undefined,
  { counts, total, packets }: GroupCounts,
): ForwardingShare {
  const way = resolver.resolve(nextHop);
  // Its own and that of its twin.
  const ids = [...known.nexthops.values()].flatMap(({ id, gateway }) => (gateway === nextHop ? [id] : []));
  const isInGroup = group?.members.some(({ id }) => ids.includes(id)) === true;
  const buckets = ids.reduce((sum, id) => sum + (counts.get(id) ?? 0), 0);
  const problem = 'problem' in way ? way.problem : isInGroup ? '' : 'not in the group of the kernel';
  return {
    nextHop,
    weight,
    interfaceName: 'problem' in way ? undefined : way.interfaceName,
    buckets,
    share: total === 0 ? shareByWeight(group, ids) : buckets / total,
    packets: packets && ids.reduce((sum, id) => sum + (packets.get(id) ?? 0), 0),
    problem,
  };
}

/** A plain group has no buckets: hashes are shared out by weight. */
function shareByWeight(group: NexthopGroup | undefined, ids: readonly number[]): number {
  if (group === undefined || group.resilient !== undefined) {
    return 0;
  }
  const all = group.members.reduce((sum, { weight }) => sum + weight, 0);
  return (group.members.find(({ id }) => ids.includes(id))?.weight ?? 0) / all;
}

function bucketCounts(
  group: NexthopGroup | undefined,
  read: ForwardingQuestion['buckets'],
): Map<number, number> {
  const counts = new Map<number, number>();
  if (group?.resilient !== undefined) {
    for (const { nexthopId } of read(group.id)) {
      counts.set(nexthopId, (counts.get(nexthopId) ?? 0) + 1);
    }
  }
  return counts;
}
