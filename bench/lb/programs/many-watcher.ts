/**
 * Runs in the load balancer's namespace: tells, by the kernel's notifications, when the resilient groups of many VIPs have become
 * what is wanted of all of them.
 */
import { type Nexthop, RouteMonitor, RouteTable } from '@bgp-lb/linux';

/** What the groups of all VIPs are to have. */
export interface WantedGroups {
  /** By VIP: gateways with the greatest weight, and those with less. */
  readonly vips: Readonly<
    Record<string, { readonly full: readonly string[]; readonly lesser: readonly string[] }>
  >;
  /** Gateways that no next hop leads to any more. */
  readonly gone: readonly string[];
}

const nexthops = new Map<number, Nexthop>();
/** The group that a VIP's route leads to. */
const groups = new Map<string, number>();
let wanted: WantedGroups | undefined;
/** CLOCK_MONOTONIC in ns, when the notification was read that made the last object right. */
let reachedAt: bigint | undefined;
let onReached: (() => void) | undefined;

/** Listens from now on. The namespace must have no routes to the VIPs yet. */
export function watch(): void {
  new RouteMonitor(
    {
      changed(_kind, { kind, action, object }) {
        if (kind === 'nexthop' && action === 'set') nexthops.set(object.id, object);
        else if (kind === 'nexthop') nexthops.delete(object.id);
        else if (kind === 'route' && object.table === RouteTable.Main && object.nexthopId !== undefined) {
          if (action === 'set') groups.set(object.destination, object.nexthopId);
          else groups.delete(object.destination);
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

function look(at: bigint): void {
  if (wanted === undefined) return;
  if (!isReached(wanted)) reachedAt = undefined;
  else if (reachedAt === undefined) {
    reachedAt = at;
    onReached?.();
  }
}

function isReached({ vips, gone }: WantedGroups): boolean {
  const there = new Set([...nexthops.values()].map(({ gateway }) => gateway));
  return (
    gone.every((gateway) => !there.has(gateway)) &&
    Object.entries(vips).every(([vip, { full, lesser }]) => {
      const weights = weightsOf(vip);
      const greatest = Math.max(...weights.values());
      return (
        weights.size === full.length + lesser.length &&
        full.every((gateway) => weights.get(gateway) === greatest) &&
        lesser.every((gateway) => (weights.get(gateway) ?? greatest) < greatest)
      );
    })
  );
}

/** By gateway. One may be there twice (the twin of a member that was alone): the greater weight counts. */
function weightsOf(vip: string): Map<string, number> {
  const weights = new Map<string, number>();
  const group = nexthops.get(groups.get(vip) ?? 0)?.group ?? [];
  for (const { id, weight } of group) {
    const gateway = nexthops.get(id)?.gateway;
    if (gateway !== undefined) weights.set(gateway, Math.max(weight, weights.get(gateway) ?? 0));
  }
  return weights;
}

/** From now on the groups are awaited to become this. */
export function expectGroups(groupsWanted: WantedGroups): void {
  wanted = groupsWanted;
  reachedAt = isReached(groupsWanted) ? process.hrtime.bigint() : undefined;
}

/** When the groups became what was last expected; undefined when that takes longer than `timeout` ms. */
export function reached(timeout: number): Promise<bigint | undefined> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      onReached = undefined;
      resolve(reachedAt);
    };
    const timer = setTimeout(finish, timeout);
    onReached = finish;
    if (reachedAt !== undefined) finish();
  });
}
