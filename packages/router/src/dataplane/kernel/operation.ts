import {
  type KernelObjects,
  type MarkRule,
  type MemberNexthop,
  type NexthopGroup,
  type OwnRoute,
  sameGroup,
  sameNexthop,
  sameRoute,
} from './kernel-objects.ts';

/** One request to the kernel. */
export type Operation =
  | { readonly kind: 'set-nexthop'; readonly nexthop: MemberNexthop }
  | { readonly kind: 'set-group'; readonly group: NexthopGroup }
  | { readonly kind: 'set-route'; readonly route: OwnRoute }
  | { readonly kind: 'add-rule'; readonly rule: MarkRule }
  | { readonly kind: 'delete-rule'; readonly rule: MarkRule }
  | { readonly kind: 'delete-route'; readonly route: OwnRoute }
  | { readonly kind: 'delete-group'; readonly id: number }
  | { readonly kind: 'delete-nexthop'; readonly id: number };

/**
 * The requests that bring the kernel from what it has to what is wanted, in an order without a gap: the floor
 * first, then what others refer to before what refers to it, and deletions last and the other way round. A group
 * is replaced in place, so that only buckets of removed members move.
 */
export function operations(wanted: KernelObjects, actual: KernelObjects): Operation[] {
  const routes = missing(wanted.routes, actual.routes, sameRoute);
  const floor = routes.filter((route) => route.target.kind === 'unreachable');
  const others = routes.filter((route) => route.target.kind !== 'unreachable');
  return [
    ...floor.map((route) => ({ kind: 'set-route', route }) as const),
    ...missing(wanted.nexthops, actual.nexthops, sameNexthop).map(
      (nexthop) => ({ kind: 'set-nexthop', nexthop }) as const,
    ),
    ...missing(wanted.groups, actual.groups, sameGroup).map(
      (group) => ({ kind: 'set-group', group }) as const,
    ),
    ...others.map((route) => ({ kind: 'set-route', route }) as const),
    ...missing(wanted.rules, actual.rules, () => true).map((rule) => ({ kind: 'add-rule', rule }) as const),
    ...surplus(wanted.rules, actual.rules).map((rule) => ({ kind: 'delete-rule', rule }) as const),
    ...surplus(wanted.routes, actual.routes).map((route) => ({ kind: 'delete-route', route }) as const),
    ...surplus(wanted.groups, actual.groups).map(({ id }) => ({ kind: 'delete-group', id }) as const),
    ...surplus(wanted.nexthops, actual.nexthops).map(({ id }) => ({ kind: 'delete-nexthop', id }) as const),
  ];
}

/** One line for logs: `set-group 8400000: 8401001 x256, 8401002 x1`. */
export function describeOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'set-nexthop': {
      const { id, gateway, interfaceIndex } = operation.nexthop;
      return `set-nexthop ${id}: via ${gateway} on interface ${interfaceIndex}`;
    }
    case 'set-group': {
      const members = operation.group.members.map(({ id, weight }) => `${id} x${weight}`);
      return `set-group ${operation.group.id}: ${members.join(', ')}`;
    }
    case 'set-route':
    case 'delete-route': {
      const { destination, table, metric, target } = operation.route;
      return `${operation.kind} ${destination} (${target.kind}) table ${table} metric ${metric}`;
    }
    case 'add-rule':
    case 'delete-rule': {
      const { priority, mark, table } = operation.rule;
      return `${operation.kind} ${priority}: fwmark ${mark} lookup ${table}`;
    }
    case 'delete-group':
    case 'delete-nexthop':
      return `${operation.kind} ${operation.id}`;
  }
}

function missing<K, V>(
  wanted: ReadonlyMap<K, V>,
  actual: ReadonlyMap<K, V>,
  same: (a: V, b: V) => boolean,
): V[] {
  const found: V[] = [];
  // As a rule nothing of hundreds: no array of all of them.
  for (const [key, value] of wanted) {
    const there = actual.get(key);
    if (there !== value && (there === undefined || !same(value, there))) found.push(value);
  }
  return found;
}

function surplus<K, V>(wanted: ReadonlyMap<K, V>, actual: ReadonlyMap<K, V>): V[] {
  const found: V[] = [];
  for (const [key, value] of actual) {
    if (!wanted.has(key)) found.push(value);
  }
  return found;
}
