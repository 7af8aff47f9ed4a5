import { lastingGlobalAddress, NetlinkError, RouteSocket } from '@bgp-lb/linux';

/** A global IPv6 address of this host on an interface that others may rely on. `undefined` without one, and without the interface. */
export function globalAddressIn(
  routes: Pick<RouteSocket, 'links' | 'addresses'>,
  interfaceName: string,
): string | undefined {
  try {
    const link = routes.links().find(({ name }) => name === interfaceName);
    return link === undefined ? undefined : lastingGlobalAddress(routes.addresses({ index: link.index }));
  } catch (error) {
    // Without an answer the link-local address does alone.
    if (error instanceof NetlinkError) return undefined;
    throw error;
  }
}

/** As `globalAddressIn`, of this host as it is now. */
export function globalAddressOn(interfaceName: string): string | undefined {
  const routes = new RouteSocket();
  try {
    return globalAddressIn(routes, interfaceName);
  } finally {
    routes.close();
  }
}
