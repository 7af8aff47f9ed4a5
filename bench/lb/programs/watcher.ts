/**
 * Runs in the load balancer's namespace: keeps, by the kernel's notifications, which next hops a packet for the VIP
 * can take, and since when. Any daemon's way of programming is understood: next hop groups, multipath, one hop.
 */
import { type Nexthop, type Route, RouteMonitor, RouteTable } from '@bgp-lb/linux';

/** Weights by gateway; empty while the VIP has no route. */
export type Members = Readonly<Record<string, number>>;

/** What is waited for. `full`: its weight is the greatest. `lesser`: it has less than that, or nothing. */
export type Wanted = 'full' | 'lesser' | 'absent';

interface Transition {
  /** CLOCK_MONOTONIC in ns, when the notification was read. */
  readonly at: bigint;
  readonly members: Members;
}

const nexthops = new Map<number, Nexthop>();
/** Unicast routes to the VIP in the main table, by metric. */
const routes = new Map<number, Route>();
const transitions: Transition[] = [{ at: 0n, members: {} }];
let onTransition: (() => void) | undefined;
let vip = '';
let mark = 0;

/** Listens from now on. The namespace must have no route to the VIP yet. @param prefix `10.100.0.1/32` */
export function watch(prefix: string): void {
  vip = prefix;
  new RouteMonitor(
    {
      changed(_kind, { kind, action, object }) {
        if (kind === 'nexthop') keep(nexthops, object.id, object, action === 'set');
        else if (kind === 'route' && object.destination === vip && object.table === RouteTable.Main) {
          keep(routes, object.metric ?? 0, object, action === 'set' && object.type === 'unicast');
        } else return;
        look(process.hrtime.bigint());
      },
      overflow: () => fail(new Error('the kernel dropped notifications')),
      error: fail,
    },
    ['route', 'nexthop'],
  );
}

function fail(error: Error): void {
  // A figure after this would be wrong: the process ends, and with it the call that waits.
  console.error(error);
  process.exit(1);
}

function keep<T>(map: Map<number, T>, key: number, object: T, isThere: boolean): void {
  if (isThere) map.set(key, object);
  else map.delete(key);
}

function look(at: bigint): void {
  const members = currentMembers();
  if (JSON.stringify(members) === JSON.stringify(transitions.at(-1)?.members)) return;
  transitions.push({ at, members });
  onTransition?.();
}

function currentMembers(): Members {
  const [best] = [...routes].sort(([a], [b]) => a - b).map(([, route]) => route);
  if (best === undefined) return {};
  const entries = best.nexthopId === undefined ? hopsOf(best) : gatewaysOf(best.nexthopId, 1);
  // A gateway may be there twice (our router's twin of a member that was alone): the greater weight counts.
  return Object.fromEntries(entries.sort(([a, x], [b, y]) => (a === b ? x - y : a < b ? -1 : 1)));
}

function hopsOf({ gateway, hops }: Route): [string, number][] {
  if (gateway !== undefined) return [[gateway, 1]];
  return (hops ?? []).map((hop) => [hop.gateway ?? '', hop.weight]);
}

/** The kernel takes a next hop out of its groups when it goes: one that is gone has no gateway here. */
function gatewaysOf(id: number, weight: number): [string, number][] {
  const nexthop = nexthops.get(id);
  if (nexthop?.group !== undefined) {
    return nexthop.group.flatMap((member) => gatewaysOf(member.id, member.weight));
  }
  return nexthop?.gateway === undefined ? [] : [[nexthop.gateway, weight]];
}

function isAsWanted(members: Members, gateway: string, wanted: Wanted): boolean {
  const weight = members[gateway] ?? 0;
  if (wanted === 'absent') return weight === 0;
  const greatest = Math.max(1, ...Object.values(members));
  return wanted === 'full' ? weight === greatest : weight < greatest;
}

/** The members now. */
export function members(): Members {
  return transitions.at(-1)?.members ?? {};
}

/** What the members were after each change since the mark, in order. */
export function changesSinceMark(): Members[] {
  return transitions.slice(mark).map(({ members: then }) => then);
}

/** Begins a new list for changesSinceMark. */
export function setMark(): void {
  mark = transitions.length;
}

/** When the members were first as wanted at or after `since`; undefined when that takes longer than `timeout` ms. */
export function firstSince(query: {
  readonly since: bigint;
  readonly gateway: string;
  readonly wanted: Wanted;
  readonly timeout: number;
}): Promise<bigint | undefined> {
  const find = (): bigint | undefined =>
    transitions.find(
      ({ at, members: then }) => at >= query.since && isAsWanted(then, query.gateway, query.wanted),
    )?.at;
  return new Promise((resolve) => {
    const finish = (at: bigint | undefined): void => {
      clearTimeout(timer);
      onTransition = undefined;
      resolve(at);
    };
    const timer = setTimeout(() => finish(undefined), query.timeout);
    const check = (): void => {
      const at = find();
      if (at !== undefined) finish(at);
    };
    onTransition = check;
    check();
  });
}

/** Waits until exactly these gateways are members, all with the same weight; false after `timeout` ms. */
export function settled(query: {
  readonly gateways: readonly string[];
  readonly timeout: number;
}): Promise<boolean> {
  const wanted = [...query.gateways].sort().join();
  const isSettled = (): boolean => {
    const now = members();
    return Object.keys(now).sort().join() === wanted && new Set(Object.values(now)).size <= 1;
  };
  return new Promise((resolve) => {
    const finish = (result: boolean): void => {
      clearTimeout(timer);
      onTransition = undefined;
      resolve(result);
    };
    const timer = setTimeout(() => finish(false), query.timeout);
    onTransition = (): void => {
      if (isSettled()) finish(true);
    };
    if (isSettled()) finish(true);
  });
}
