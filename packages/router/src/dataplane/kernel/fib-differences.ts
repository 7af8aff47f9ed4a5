import type { Difference } from '../data-plane.ts';
import type { KernelObjects, NexthopGroup, OwnRoute } from './kernel-objects.ts';
import { type Operation, operations } from './operation.ts';

/** What differs between the objects that are wanted and those that the kernel has, a sentence each. Pure. */
export function objectDifferences(wanted: KernelObjects, actual: KernelObjects): readonly Difference[] {
  return operations(wanted, actual).flatMap((operation) => {
    const { object, text } = sentence(operation, actual);
    const vips = vipsOf(operation, wanted, actual);
    return (vips.length === 0 ? [null] : vips).map((vip) => ({ vip, object, difference: text }));
  });
}

function sentence(
  operation: Operation,
  actual: KernelObjects,
): { readonly object: Difference['object']; readonly text: string } {
  switch (operation.kind) {
    case 'set-route':
    case 'delete-route': {
      const { destination, table, metric } = operation.route;
      const there = [...actual.routes.values()].find(
        (route) => route.destination === destination && route.table === table && route.metric === metric,
      );
      const place = `table ${table} metric ${metric}`;
      return {
        object: 'route',
        text: `${place}: ${contrast(operation, there && way(there), way(operation.route))}`,
      };
    }
    case 'set-nexthop': {
      const { id } = operation.nexthop;
      const there = actual.nexthops.get(id);
      return {
        object: 'next hop',
        text: `${id}: ${contrast(operation, there && hop(there), hop(operation.nexthop))}`,
      };
    }
    case 'delete-nexthop': {
      const there = actual.nexthops.get(operation.id);
      return { object: 'next hop', text: `${operation.id}: ${contrast(operation, there && hop(there), '')}` };
    }
    case 'set-group': {
      const { group } = operation;
      const there = actual.groups.get(group.id);
      return {
        object: 'group',
        text: `${group.id}: ${contrast(operation, there && members(there), members(group))}`,
      };
    }
    case 'delete-group': {
      const there = actual.groups.get(operation.id);
      return {
        object: 'group',
        text: `${operation.id}: ${contrast(operation, there && members(there), '')}`,
      };
    }
    case 'add-rule':
    case 'delete-rule': {
      const { version, priority, mark, table } = operation.rule;
      const rule = `IPv${version} priority ${priority} fwmark ${mark} lookup ${table}`;
      return {
        object: 'rule',
        text: operation.kind === 'add-rule' ? `${rule}: missing` : `${rule}: not wanted`,
      };
    }
  }
}

/** What there is against what is wanted. */
function contrast({ kind }: Operation, there: string | undefined, wanted: string): string {
  if (kind.startsWith('delete-')) return `the kernel has ${there ?? 'it'}, not wanted`;
  return there === undefined ? `missing; wanted ${wanted}` : `the kernel has ${there}; wanted ${wanted}`;
}

function way({ target }: OwnRoute): string {
  switch (target.kind) {
    case 'group':
      return `group ${target.id}`;
    case 'gateway':
      return `via ${target.gateway} on interface ${target.interfaceIndex}`;
    case 'unreachable':
      return 'unreachable';
    case 'other':
      return 'another way';
  }
}

function hop({ gateway, interfaceIndex }: { gateway: string; interfaceIndex: number }): string {
  return `via ${gateway} on interface ${interfaceIndex}`;
}

function members({ members: list, resilient }: NexthopGroup): string {
  const kind =
    resilient === undefined ? 'plain' : `${resilient.buckets} buckets, idle timer ${resilient.idleTimer} s`;
  return `${list.map(({ id, weight }) => `${id} x${weight}`).join(', ')} (${kind})`;
}

/** The VIPs that an operation is for. */
function vipsOf(operation: Operation, wanted: KernelObjects, actual: KernelObjects): readonly string[] {
  switch (operation.kind) {
    case 'set-route':
    case 'delete-route':
      return [operation.route.destination];
    case 'set-group':
      return byGroup(operation.group.id, wanted);
    case 'delete-group':
      return byGroup(operation.id, actual);
    case 'set-nexthop':
      return byNexthop(operation.nexthop.id, wanted);
    case 'delete-nexthop':
      return byNexthop(operation.id, actual);
    case 'add-rule':
    case 'delete-rule':
      return [];
  }
}

function byGroup(id: number, { routes }: KernelObjects): readonly string[] {
  return [...routes.values()].flatMap(({ target, destination }) =>
    target.kind === 'group' && target.id === id ? [destination] : [],
  );
}

function byNexthop(id: number, objects: KernelObjects): readonly string[] {
  const groups = [...objects.groups.values()].filter(({ members: list }) =>
    list.some((one) => one.id === id),
  );
  return groups.flatMap((group) => byGroup(group.id, objects));
}
