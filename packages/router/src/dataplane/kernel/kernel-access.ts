import {
  NetlinkError,
  type Nexthop,
  type NexthopBucket,
  type Route,
  type RouteChange,
  type RouteSocket,
} from '@bgp-lb/linux';
import { formatScoped, isLinkLocal, parseIpAddress, withoutZone } from '@bgp-lb/protocol';
import { FLOOR_METRIC, ROUTE_METRIC } from './desired-objects.ts';
import {
  type KernelObjects,
  type MarkRule,
  type MemberNexthop,
  type NexthopGroup,
  type OwnRoute,
  routeKey,
  ruleKey,
} from './kernel-objects.ts';
import type { Operation } from './operation.ts';

/** The requests that the data plane makes of the kernel; `RouteSocket` makes them. */
export type KernelSocket = Pick<RouteSocket, 'links' | 'nexthops' | 'routes' | 'rules' | 'changeEach'>;

/** What was read back: what carries our protocol number, and the nexthop ids that others use. */
export interface ReadBack {
  readonly objects: KernelObjects;
  readonly foreignIds: ReadonlySet<number>;
}

/** On a host that is a master too, the speaker's routes to the VIPs have the same protocol, and metrics of their own. */
const metrics = [ROUTE_METRIC, FLOOR_METRIC];

/** Reads every object of the router: those with the protocol number, and of the routes those with its metrics. */
export function readOwnObjects(socket: KernelSocket, protocol: number): ReadBack {
  const all = socket.nexthops();
  const own = all.filter((nexthop) => nexthop.protocol === protocol);
  const scoped = scopedBy(socket);
  const nexthops = own.flatMap((nexthop) => toMember(nexthop, scoped));
  const groups = own.flatMap((nexthop) => toGroup(nexthop));
  const routes = socket
    .routes({ protocol })
    .filter(({ metric = 0 }) => metrics.includes(metric))
    .map((route) => toOwnRoute(route, scoped));
  const rules = ([4, 6] as const).flatMap((version) =>
    socket
      .rules(version)
      .filter((rule) => rule.protocol === protocol)
      .map(({ priority, mark, table }): MarkRule => ({ version, priority, mark: mark ?? 0, table })),
  );
  return {
    objects: {
      nexthops: new Map(nexthops.map((nexthop) => [nexthop.id, nexthop])),
      groups: new Map(groups.map((group) => [group.id, group])),
      routes: new Map(routes.map((route) => [routeKey(route), route])),
      rules: new Map(rules.map((rule) => [ruleKey(rule), rule])),
    },
    foreignIds: new Set(all.filter((nexthop) => nexthop.protocol !== protocol).map(({ id }) => id)),
  };
}

/**
 * Throws when the kernel does not answer, or would let this process change nothing: without CAP_NET_ADMIN. Nothing is changed
 * by it, and neither end is told of a change.
 */
export function checkWritable(socket: Pick<RouteSocket, 'links' | 'deleteNexthop'>): void {
  socket.links();
  try {
    // No next hop has the number 0: there is nothing to delete, and the kernel asks for the permission first.
    socket.deleteNexthop(0);
  } catch (error) {
    if (!(error instanceof NetlinkError && error.isAnswer) || error.errno === 'EPERM') {
      throw error;
    }
  }
}

/** A group's buckets; none when it was deleted this very moment: the repair is on its way. */
export function readBuckets(socket: Pick<RouteSocket, 'nexthopBuckets'>, groupId: number): NexthopBucket[] {
  try {
    return socket.nexthopBuckets(groupId);
  } catch (error) {
    if (error instanceof NetlinkError) {
      return [];
    }
    throw error;
  }
}

/** The packets of a group's members by their ids; `undefined` where the kernel does not count, or the group is gone. */
export function readPackets(
  socket: Pick<RouteSocket, 'nexthopGroupPackets'>,
  groupId: number,
): ReadonlyMap<number, number> | undefined {
  try {
    return socket.nexthopGroupPackets(groupId);
  } catch (error) {
    if (error instanceof NetlinkError) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Sends the requests of operations together. What is to be deleted and is gone already counts as done.
 * @returns for each what was said against it, undefined where it was done
 * @throws what `isUnanswered` knows: any of them was carried out or not
 */
export function perform(
  socket: Pick<KernelSocket, 'changeEach'>,
  protocol: number,
  operations: readonly Operation[],
): readonly (NetlinkError | RangeError | undefined)[] {
  const refusals = socket.changeEach(operations.map((operation) => toChange(operation, protocol)));
  return operations.map(({ kind }, index) => {
    const refusal = refusals[index];
    return refusal instanceof NetlinkError && refusal.errno === FOR_DONE[kind] ? undefined : refusal;
  });
}

/** The error that says that an operation is not needed any more. */
const FOR_DONE: Readonly<Partial<Record<Operation['kind'], string>>> = {
  'add-rule': 'EEXIST',
  'delete-rule': 'ENOENT',
  'delete-route': 'ESRCH',
  'delete-group': 'ENOENT',
  'delete-nexthop': 'ENOENT',
};

function toChange(operation: Operation, protocol: number): RouteChange {
  switch (operation.kind) {
    case 'set-nexthop':
      return {
        kind: 'set-nexthop',
        nexthop: { ...operation.nexthop, gateway: withoutZone(operation.nexthop.gateway), protocol },
      };
    case 'set-group': {
      const { id, members, resilient } = operation.group;
      return { kind: 'set-nexthop-group', group: { id, members, protocol, ...(resilient && { resilient }) } };
    }
    case 'set-route':
      return { kind: 'set-route', route: toSetting(operation.route, protocol) };
    case 'add-rule':
    case 'delete-rule':
      return { kind: operation.kind, rule: { ...operation.rule, protocol } };
    case 'delete-route': {
      const { destination, table, metric } = operation.route;
      return { kind: 'delete-route', route: { destination, table, metric, protocol } };
    }
    case 'delete-group':
    case 'delete-nexthop':
      return { kind: 'delete-nexthop', id: operation.id };
  }
}

function toSetting(route: OwnRoute, protocol: number): Extract<RouteChange, { kind: 'set-route' }>['route'] {
  const { destination, table, metric, target } = route;
  const base = { destination, table, metric, protocol };
  switch (target.kind) {
    case 'group':
      return { ...base, nexthopId: target.id };
    case 'gateway':
      return { ...base, gateway: withoutZone(target.gateway), interfaceIndex: target.interfaceIndex };
    case 'unreachable':
      return { ...base, type: 'unreachable' };
    case 'other':
      throw new RangeError(`route ${routeKey(route)}: only read back, never made`);
  }
}

/** How a gateway is written whose interface the kernel says beside it. */
type Scoped = (gateway: string, interfaceIndex: number) => string;

/** The interfaces are asked for only where a gateway is link-local. */
function scopedBy(socket: Pick<RouteSocket, 'links'>): Scoped {
  let names: ReadonlyMap<number, string> | undefined;
  return (gateway, interfaceIndex) => {
    const address = parseIpAddress(gateway);
    if (!isLinkLocal(address)) {
      return gateway;
    }
    names ??= new Map(socket.links().map(({ index, name }) => [index, name]));
    return formatScoped(address, names.get(interfaceIndex) ?? String(interfaceIndex));
  };
}

function toMember(nexthop: Nexthop, scoped: Scoped): MemberNexthop[] {
  if (nexthop.group !== undefined) {
    return [];
  }
  // A blackhole or device next hop of our protocol is nothing that we make: an empty gateway matches nothing.
  const { id, gateway, interfaceIndex = 0 } = nexthop;
  return [{ id, gateway: gateway === undefined ? '' : scoped(gateway, interfaceIndex), interfaceIndex }];
}

function toGroup(nexthop: Nexthop): NexthopGroup[] {
  if (nexthop.group === undefined) {
    return [];
  }
  const members = nexthop.group.map(({ id, weight }) => ({ id, weight })).sort((a, b) => a.id - b.id);
  return [{ id: nexthop.id, members, resilient: nexthop.resilient }];
}

function toOwnRoute(route: Route, scoped: Scoped): OwnRoute {
  const { destination, table, metric = 0 } = route;
  return { destination, table, metric, target: targetOf(route, scoped) };
}

function targetOf(route: Route, scoped: Scoped): OwnRoute['target'] {
  if (route.type === 'unreachable') {
    return { kind: 'unreachable' };
  }
  if (route.type === 'unicast' && route.nexthopId !== undefined) {
    return { kind: 'group', id: route.nexthopId };
  }
  if (route.type === 'unicast' && route.gateway !== undefined && route.interfaceIndex !== undefined) {
    const { gateway, interfaceIndex } = route;
    return { kind: 'gateway', gateway: scoped(gateway, interfaceIndex), interfaceIndex };
  }
  return { kind: 'other' };
}
