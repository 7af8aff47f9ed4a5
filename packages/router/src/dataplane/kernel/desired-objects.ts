import { ipVersion } from '@bgp-lb/protocol';
import { LEAST_WEIGHT, type WeightedNextHop } from '../../pool/member-view.ts';
import {
  type KernelObjects,
  type MarkRule,
  type MemberNexthop,
  type NexthopGroup,
  type OwnRoute,
  type ResilientSettings,
  routeKey,
  ruleKey,
} from './kernel-objects.ts';
import type { ObjectIds } from './object-ids.ts';

/** Metric of the route that refuses what no group carries (invariant 8): the least preferred that leaves room. */
export const FLOOR_METRIC: number = 4_000_000_000;
/** Metric of every other route of ours. */
export const ROUTE_METRIC: number = 84;
/** Priority of the rules for health probes: before the main table, after the local one. */
const RULE_PRIORITY: number = 84;

/** Where a next hop is, or why it cannot be used. */
export type Resolution =
  | { readonly interfaceIndex: number; readonly interfaceName: string }
  | {
      readonly problem: string /** There is a way, and the kernel refused to take it. */;
      readonly isRefusal?: boolean;
    };

/** Everything that the kernel's objects follow from. */
export interface Wanted {
  /** Every configured VIP, `10.100.0.1/32`, with the next hops that serve it. */
  readonly vips: ReadonlyMap<string, readonly WeightedNextHop[]>;
  /** Next hops that are probed, with the mark of each. */
  readonly probed: ReadonlyMap<string, number>;
  /** Mark and table that answers to probes are looked up with. */
  readonly replyMark: number;
  readonly resolve: (nextHop: string) => Resolution;
  readonly table: number;
  /** `undefined`: plain groups, on a kernel that has no others. */
  readonly resilient: ResilientSettings | undefined;
}

/** What health probes go by: most of what there is, and it changes only with who is probed and the ways to them. */
interface ProbePaths {
  readonly routes: ReadonlyMap<string, OwnRoute>;
  readonly rules: ReadonlyMap<string, MarkRule>;
}

/** Keeps the last paths of health probes, since a change of a pool leaves them as they are. */
export class KnownProbePaths {
  #key: string | undefined;
  #paths: ProbePaths = { routes: new Map(), rules: new Map() };

  of(wanted: Wanted): ProbePaths {
    const ways = [...wanted.probed].map(([nextHop, mark]) => {
      const way = wanted.resolve(nextHop);
      return [nextHop, mark, 'problem' in way ? '' : way.interfaceIndex].join();
    });
    const key = [wanted.replyMark, ...ways, ...wanted.vips.keys()].join(' ');
    if (key !== this.#key) {
      this.#key = key;
      this.#paths = probePaths(wanted);
    }
    return this.#paths;
  }
}

/**
 * The objects that the kernel should have. `actual` only decides which group ids are usable.
 * @param probes those of `wanted`
 */
export function desiredObjects(
  wanted: Wanted,
  ids: ObjectIds,
  actual: KernelObjects,
  probes: ProbePaths = probePaths(wanted),
): KernelObjects {
  const nexthops = new Map<number, MemberNexthop>();
  const groups = new Map<number, NexthopGroup>();
  const routes = new Map(probes.routes);
  const add = (route: OwnRoute): unknown => routes.set(routeKey(route), route);
  for (const [vip, nextHops] of wanted.vips) {
    add(floor(vip, wanted.table));
    const alone = usable(nextHops, wanted.resolve, ids);
    if (alone.length === 0) {
      continue;
    }
    const id = ids.group(vip, wanted.resilient?.buckets, actual);
    const members = wanted.resilient === undefined ? alone : withTwins(alone, ids, actual.groups.get(id));
    for (const { nexthop } of members) {
      nexthops.set(nexthop.id, nexthop);
    }
    groups.set(id, {
      id,
      members: members.map(({ nexthop, weight }) => ({ id: nexthop.id, weight })).sort((a, b) => a.id - b.id),
      resilient: wanted.resilient,
    });
    add({
      destination: vip,
      table: wanted.table,
      metric: ROUTE_METRIC,
      target: { kind: 'group', id },
    });
  }
  return { nexthops, groups, routes, rules: probes.rules };
}

interface GroupMember {
  readonly nexthop: MemberNexthop;
  readonly weight: number;
}

/**
 * The kernel does not look at the buckets of a group of one: it never notes that they are in use, and would give half of
 * the live connections to the next member that comes. So a member that is alone gets a twin with the least weight, which
 * stays as long as it does: taken away, its buckets would move.
 */
function withTwins(
  members: readonly GroupMember[],
  ids: ObjectIds,
  group: NexthopGroup | undefined,
): readonly GroupMember[] {
  const twins = members.flatMap(({ nexthop }): GroupMember[] => {
    const id = ids.twin(nexthop.id);
    const isThere = group?.members.some((member) => member.id === id) === true;
    return id !== undefined && (members.length === 1 || isThere)
      ? [{ nexthop: { ...nexthop, id }, weight: LEAST_WEIGHT }]
      : [];
  });
  return [...members, ...twins];
}

function usable(
  nextHops: readonly WeightedNextHop[],
  resolve: Wanted['resolve'],
  ids: ObjectIds,
): GroupMember[] {
  return nextHops.flatMap(({ nextHop, weight }) => {
    const way = resolve(nextHop);
    return 'problem' in way
      ? []
      : [
          {
            nexthop: { id: ids.member(nextHop), gateway: nextHop, interfaceIndex: way.interfaceIndex },
            weight,
          },
        ];
  });
}

/**
 * One mark, rule and table for each probed member, and one for the answers. Each table has a floor of its own:
 * without it a probe would fall through to the main table and pass by another member.
 */
function probePaths(wanted: Wanted): ProbePaths {
  const rules = new Map<string, MarkRule>();
  const routes = new Map<string, OwnRoute>();
  const add = (route: OwnRoute): unknown => routes.set(routeKey(route), route);
  const paths = [...wanted.probed].map(([nextHop, mark]) => ({ nextHop, mark }));
  for (const version of [4, 6] as const) {
    const vips = [...wanted.vips.keys()].filter((vip) => versionOf(vip) === version);
    const members = paths.filter(({ nextHop }) => versionOf(nextHop) === version);
    const reachable = members.find(({ nextHop }) => !('problem' in wanted.resolve(nextHop)));
    if (vips.length === 0 || members.length === 0) {
      continue;
    }
    // rp_filter looks the answer's source up with the reply mark, and refuses it while the VIP has but the floor.
    const reply = reachable === undefined ? [] : [{ ...reachable, mark: wanted.replyMark }];
    for (const { nextHop, mark } of [...members, ...reply]) {
      const rule = { version, priority: RULE_PRIORITY, mark, table: mark };
      rules.set(ruleKey(rule), rule);
      for (const vip of vips) {
        add(floor(vip, mark));
        const way = wanted.resolve(nextHop);
        if (!('problem' in way)) {
          const target = { kind: 'gateway', gateway: nextHop, interfaceIndex: way.interfaceIndex } as const;
          add({ destination: vip, table: mark, metric: ROUTE_METRIC, target });
        }
      }
    }
  }
  return { routes, rules };
}

function floor(vip: string, table: number): OwnRoute {
  return { destination: vip, table, metric: FLOOR_METRIC, target: { kind: 'unreachable' } };
}

function versionOf(text: string): 4 | 6 {
  return ipVersion(text);
}
