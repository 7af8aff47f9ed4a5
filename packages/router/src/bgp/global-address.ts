import { AddressFlag, NetlinkError, RouteSocket } from '@bgp-lb/linux';

/**
 * A global IPv6 address of this host on an interface, one that others may rely on: neither deprecated nor still looked for on the
 * link (RFC 4862 sections 5.4 and 5.5.4). `undefined` without one, and without the interface.
 */
export function globalAddressIn(
  routes: Pick<RouteSocket, 'links' | 'addresses'>,
  interfaceName: string,
): string | undefined {
  try {
    const link = routes.links().find(({ name }) => name === interfaceName);
    const unsure = AddressFlag.Tentative | AddressFlag.DadFailed | AddressFlag.Deprecated;
    return link === undefined
      ? undefined
      : routes
          .addresses({ index: link.index })
          .find(
            ({ address, scope, flags }) =>
              address.includes(':') && scope === 'global' && (flags & unsure) === 0,
          )?.address;
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
