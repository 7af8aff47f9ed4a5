/** A next hop in use: RTM_NEWNEXTHOP with gateway and interface. */
export interface MemberNexthop {
  readonly id: number;
  /** A link-local one with the name of its interface, `fe80::11%eth0`. */
  readonly gateway: string;
  readonly interfaceIndex: number;
}

/** Numbers of a resilient group (linux/nexthop.h, NHA_RES_GROUP). Times in seconds. */
export interface ResilientSettings {
  readonly buckets: number;
  readonly idleTimer: number;
  readonly unbalancedTimer: number;
}

export interface NexthopGroup {
  readonly id: number;
  /** Sorted by id. */
  readonly members: readonly { readonly id: number; readonly weight: number }[];
  /** `undefined` for a group of the plain hash-threshold type. */
  readonly resilient: ResilientSettings | undefined;
}

/** A route of ours: to a group, to a member's address in a probe table, or the unreachable floor. */
export interface OwnRoute {
  /** `10.100.0.1/32` */
  readonly destination: string;
  readonly table: number;
  readonly metric: number;
  readonly target:
    | { readonly kind: 'group'; readonly id: number }
    | { readonly kind: 'gateway'; readonly gateway: string; readonly interfaceIndex: number }
    | { readonly kind: 'unreachable' }
    /** Read back from the kernel with our protocol number, but nothing that we would make. */
    | { readonly kind: 'other' };
}

export interface MarkRule {
  readonly version: 4 | 6;
  readonly priority: number;
  readonly mark: number;
  readonly table: number;
}

/** All objects of ours, as wanted or as read back. */
export interface KernelObjects {
  readonly nexthops: ReadonlyMap<number, MemberNexthop>;
  readonly groups: ReadonlyMap<number, NexthopGroup>;
  /** By `routeKey`. */
  readonly routes: ReadonlyMap<string, OwnRoute>;
  /** By `ruleKey`. */
  readonly rules: ReadonlyMap<string, MarkRule>;
}

export const noObjects: KernelObjects = {
  nexthops: new Map(),
  groups: new Map(),
  routes: new Map(),
  rules: new Map(),
};

/** What the kernel tells routes apart by. */
export function routeKey(route: Pick<OwnRoute, 'destination' | 'table' | 'metric'>): string {
  return `${route.destination} table ${route.table} metric ${route.metric}`;
}

export function ruleKey(rule: MarkRule): string {
  return `v${rule.version} ${rule.priority}: fwmark ${rule.mark} lookup ${rule.table}`;
}

export function sameNexthop(a: MemberNexthop, b: MemberNexthop): boolean {
  return a.gateway === b.gateway && a.interfaceIndex === b.interfaceIndex;
}

export function sameGroup(a: NexthopGroup, b: NexthopGroup): boolean {
  return (
    a.members.length === b.members.length &&
    a.members.every((member, i) => {
      const other = b.members[i];
      return other !== undefined && member.id === other.id && member.weight === other.weight;
    }) &&
    a.resilient?.buckets === b.resilient?.buckets &&
    a.resilient?.idleTimer === b.resilient?.idleTimer &&
    a.resilient?.unbalancedTimer === b.resilient?.unbalancedTimer
  );
}

export function sameRoute(a: OwnRoute, b: OwnRoute): boolean {
  const [from, to] = [a.target, b.target];
  if (from.kind === 'group' && to.kind === 'group') {
    return from.id === to.id;
  }
  if (from.kind === 'gateway' && to.kind === 'gateway') {
    return from.gateway === to.gateway && from.interfaceIndex === to.interfaceIndex;
  }
  return from.kind === 'unreachable' && to.kind === 'unreachable';
}
