import { RouteSocket } from '@bgp-lb/linux';
import { hostPrefix } from '@bgp-lb/protocol';
import type { KernelDataplaneConfig } from '../../config/router-config.ts';
import { readOwnObjects } from './kernel-access.ts';

/** RT_TABLE_LOCAL (linux/rtnetlink.h), which is asked before all others. */
const LOCAL_TABLE = 255;

/**
 * Whether the kernel has a route of this data plane that leads a VIP to members. One that is local to this host, as HAProxy's are, ends
 * here whatever other routes there are.
 * @throws NetlinkError
 */
export function isForwardedByKernel(
  vips: readonly { readonly address: string }[],
  { protocol, table }: Pick<KernelDataplaneConfig, 'protocol' | 'table'>,
): boolean {
  const socket = new RouteSocket();
  try {
    const routes = [...readOwnObjects(socket, protocol).objects.routes.values()];
    const local = new Set(socket.routes({ table: LOCAL_TABLE }).map(({ destination }) => destination));
    return vips.some(({ address }) => {
      const prefix = hostPrefix(address);
      const isLed = routes.some(
        (route) =>
          route.table === table &&
          route.destination === prefix &&
          (route.target.kind === 'group' || route.target.kind === 'gateway'),
      );
      return isLed && !local.has(prefix);
    });
  } finally {
    socket.close();
  }
}
