/**
 * Runs in the load balancer's namespace: looks at the kernel's route to the VIP again and again. When a link loses its
 * carrier the kernel drops next hops, groups and routes without a notification, so that only a look can tell.
 */
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { type Nexthop, RouteSocket, RouteTable } from '@bgp-lb/linux';

let isWanted = false;
/** When a look had ended that found no next hop. */
let goneAt: bigint | undefined;

/** Where the looks go to. */
interface Query {
  /** `10.100.0.1/32` */
  readonly vip: string;
  readonly timeout: number;
}

/** Waits until the VIP has so many next hops; false after `timeout` ms. */
export async function has({ vip, timeout, count }: Query & { readonly count: number }): Promise<boolean> {
  const socket = new RouteSocket();
  const end = performance.now() + timeout;
  let seen = nexthopsOf(socket, vip);
  for (; seen !== count && performance.now() < end; seen = nexthopsOf(socket, vip)) await sleep(20);
  socket.close();
  return seen === count;
}

/** Looks on until the VIP has no next hop, or `gone` gives up. */
export function begin(vip: string): void {
  const socket = new RouteSocket();
  isWanted = true;
  goneAt = undefined;
  void look(socket, vip);
}

async function look(socket: RouteSocket, vip: string): Promise<void> {
  while (isWanted && nexthopsOf(socket, vip) > 0) await breathe();
  if (isWanted) goneAt = process.hrtime.bigint();
  socket.close();
}

/** When there was none, CLOCK_MONOTONIC in ns; undefined when that takes longer than `timeout` ms. No more looks then. */
export async function gone(timeout: number): Promise<bigint | undefined> {
  for (const end = performance.now() + timeout; goneAt === undefined && performance.now() < end; ) {
    await breathe();
  }
  isWanted = false;
  return goneAt;
}

function nexthopsOf(socket: RouteSocket, vip: string): number {
  const route = socket
    .routes({ version: 4, table: RouteTable.Main })
    .find(({ destination, type }) => destination === vip && type === 'unicast');
  if (route === undefined) return 0;
  if (route.nexthopId === undefined) return route.gateway === undefined ? (route.hops?.length ?? 0) : 1;
  // Each gateway once: a member of ours that was alone has a twin.
  return new Set(gateways(new Map(socket.nexthops().map((each) => [each.id, each])), route.nexthopId)).size;
}

function gateways(nexthops: ReadonlyMap<number, Nexthop>, id: number): string[] {
  const nexthop = nexthops.get(id);
  if (nexthop?.group === undefined) return nexthop?.gateway === undefined ? [] : [nexthop.gateway];
  return nexthop.group.flatMap((member) => gateways(nexthops, member.id));
}
