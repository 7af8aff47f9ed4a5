import { NetlinkError, type Nexthop, type NexthopBucket, type Route, type RouteSocket } from '@bgp-lb/linux';
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
export type KernelSocket = Pick<
  RouteSocket,
  | 'nexthops'
  | 'routes'
  | 'rules'
  | 'setNexthop'
  | 'setNexthopGroup'
  | 'deleteNexthop'
  | 'setRoute'
  | 'deleteRoute'
  | 'addRule'
  | 'deleteRule'
>;

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
  const nexthops = own.flatMap((nexthop) => toMember(nexthop));
  const groups = own.flatMap((nexthop) => toGroup(nexthop));
  const routes = socket
    .routes({ protocol })
    .filter(({ metric = 0 }) => metrics.includes(metric))
    .map(toOwnRoute);
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
 * by it, and nobody is told of a change.
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

/** A group's buckets; none when somebody deleted it this very moment: the repair is on its way. */
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

/** Sends one request. What is to be deleted and is gone already counts as done. */
export function perform(socket: KernelSocket, protocol: number, operation: Operation): void {
  switch (operation.kind) {
    case 'set-nexthop':
      socket.setNexthop({ ...operation.nexthop, protocol });
      return;
    case 'set-group': {
      const { id, members, resilient } = operation.group;
      socket.setNexthopGroup({ id, members, protocol, ...(resilient && { resilient }) });
      return;
    }
    case 'set-route':
      setRoute(socket, protocol, operation.route);
      return;
    case 'add-rule':
      ignoring('EEXIST', () => socket.addRule({ ...operation.rule, protocol }));
      return;
    case 'delete-rule':
      ignoring('ENOENT', () => socket.deleteRule({ ...operation.rule, protocol }));
      return;
    case 'delete-route': {
      const { destination, table, metric } = operation.route;
      ignoring('ESRCH', () => socket.deleteRoute({ destination, table, metric, protocol }));
      return;
    }
    case 'delete-group':
    case 'delete-nexthop':
      ignoring('ENOENT', () => socket.deleteNexthop(operation.id));
      return;
  }
}

function setRoute(socket: KernelSocket, protocol: number, route: OwnRoute): void {
  const { destination, table, metric, target } = route;
  const base = { destination, table, metric, protocol };
  switch (target.kind) {
    case 'group':
      socket.setRoute({ ...base, nexthopId: target.id });
      return;
    case 'gateway':
      socket.setRoute({ ...base, gateway: target.gateway, interfaceIndex: target.interfaceIndex });
      return;
    case 'unreachable':
      socket.setRoute({ ...base, type: 'unreachable' });
      return;
    case 'other':
      throw new RangeError(`route ${routeKey(route)}: only read back, never made`);
  }
}

function ignoring(errno: string, request: () => void): void {
  try {
    request();
  } catch (error) {
    if (!(error instanceof NetlinkError && error.errno === errno)) {
      throw error;
    }
  }
}

function toMember(nexthop: Nexthop): MemberNexthop[] {
  if (nexthop.group !== undefined) {
    return [];
  }
  // A blackhole or device next hop of our protocol is nothing that we make: an empty gateway matches nothing.
  const { id, gateway = '', interfaceIndex = 0 } = nexthop;
  return [{ id, gateway, interfaceIndex }];
}

function toGroup(nexthop: Nexthop): NexthopGroup[] {
  if (nexthop.group === undefined) {
    return [];
  }
  const members = nexthop.group.map(({ id, weight }) => ({ id, weight })).sort((a, b) => a.id - b.id);
  return [{ id: nexthop.id, members, resilient: nexthop.resilient }];
}

function toOwnRoute(route: Route): OwnRoute {
  const { destination, table, metric = 0 } = route;
  return { destination, table, metric, target: targetOf(route) };
}

function targetOf(route: Route): OwnRoute['target'] {
  if (route.type === 'unreachable') {
    return { kind: 'unreachable' };
  }
  if (route.type === 'unicast' && route.nexthopId !== undefined) {
    return { kind: 'group', id: route.nexthopId };
  }
  if (route.type === 'unicast' && route.gateway !== undefined && route.interfaceIndex !== undefined) {
    return { kind: 'gateway', gateway: route.gateway, interfaceIndex: route.interfaceIndex };
  }
  return { kind: 'other' };
}
