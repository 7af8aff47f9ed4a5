import { isUnanswered, NetlinkError, type RouteSocket } from '@bgp-lb/linux';
import type { KernelVip } from './kernel-data-plane-options.ts';

/**
 * What keeps a VIP from being forwarded although our route is there: this host has the address itself, or a route
 * of another is preferred. One sentence each; neither is ours to remove.
 */
export function vipConflicts(
  socket: Pick<RouteSocket, 'routeTo'>,
  vips: readonly KernelVip[],
  isForwarding: (prefix: string) => boolean,
  table: number,
): string[] {
  return vips.flatMap(({ address, prefix }) => {
    try {
      const decision = socket.routeTo(address);
      if (decision.type === 'local') {
        return [`${address} is an address of this host, which keeps the packets: remove it`];
      }
      if (decision.table !== table) {
        return [`${address} is routed by table ${decision.table}, not by ours (${table}): look at ip rule`];
      }
      // Our own floor would have answered with an error.
      return isForwarding(prefix)
        ? []
        : [`${address} is routed by somebody else: look at ip route get ${address}`];
    } catch (error) {
      if (isUnanswered(error)) {
        return [];
      }
      if (error instanceof NetlinkError) {
        const isOurs = !isForwarding(prefix);
        return isOurs ? [] : [`${address} has no route although one is there: ${error.message}`];
      }
      throw error;
    }
  });
}
