/**
 * Runs in the load balancer's namespace without any daemon: what a change of the pool costs the kernel alone. No one
 * who programs resilient groups can be faster than that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { RouteProtocol, RouteSocket } from '@bgp-lb/linux';

const groupId = 1000;
const fullWeight = 256;

/** Milliseconds of requests that take the last member's weight away and give it back, `times` each. */
export async function replaceGroup(options: {
  readonly gateways: readonly string[];
  readonly device: string;
  readonly buckets: number;
  /** The prefix that the group carries. */
  readonly destination: string;
  readonly times: number;
  /** The least time between two requests, in ms, as between messages to a daemon: caches are as cold. */
  readonly pause: number;
}): Promise<number[]> {
  const { gateways, device, buckets, destination, times, pause } = options;
  const protocol = RouteProtocol.Static;
  const took: number[] = [];
  using socket = new RouteSocket();
  const interfaceIndex = socket.links().find(({ name }) => name === device)?.index ?? 0;
  gateways.forEach((gateway, n) => {
    socket.setNexthop({ id: n + 1, gateway, interfaceIndex, protocol });
  });
  const set = (lastWeight: number): void =>
    socket.setNexthopGroup({
      id: groupId,
      protocol,
      resilient: { buckets, idleTimer: 120, unbalancedTimer: 0 },
      members: gateways.map((_gateway, n) => ({
        id: n + 1,
        weight: n + 1 === gateways.length ? lastWeight : fullWeight,
      })),
    });
  set(fullWeight);
  socket.setRoute({ destination, nexthopId: groupId, protocol });
  for (let n = 0; n < times * 2; n += 1) {
    await sleep(pause * (1 + Math.random()));
    const since = process.hrtime.bigint();
    set(n % 2 === 0 ? 1 : fullWeight);
    took.push(Number(process.hrtime.bigint() - since) / 1e6);
  }
  socket.deleteNexthop(groupId); // and with it the route
  return took;
}
