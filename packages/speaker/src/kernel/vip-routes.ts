import { NetlinkError, type RouteSocket, RouteTable } from '@bgp-lb/linux';
import type { RouterConfig, VipConfig } from '../config/speaker-config.ts';

/** RTPROT_* of our routes, as of our addresses. */
const ROUTE_PROTOCOL = 84;

/** Below any route that somebody else may have for the VIP; the routers follow each other in the order of the configuration. */
const FIRST_METRIC = 8_400;

type Routes = Pick<RouteSocket, 'routes' | 'setRoute' | 'deleteRoute' | 'routeTo'>;

/** The routes of this host to the VIPs, by the load balancers: for a VIP outside every subnet that nobody else has a route to. */
export class VipRoutes {
  readonly #routes: Routes;
  readonly #vips: readonly VipConfig[];
  readonly #routers: readonly RouterConfig[];

  constructor(
    routes: Routes,
    config: { readonly vips: readonly VipConfig[]; readonly routers: readonly RouterConfig[] },
  ) {
    this.#routes = routes;
    this.#vips = config.vips;
    this.#routers = config.routers;
  }

  /**
   * Puts a route to each VIP by each load balancer of its family that is on link. The address on `lo` wins over them, once it
   * is bound. @returns what was done, one phrase each. @throws NetlinkError
   */
  install(): readonly string[] {
    return this.#vips.flatMap(({ address }) =>
      this.#routers.flatMap((router, index) => {
        if (router.address.includes(':') !== address.includes(':')) return [];
        const interfaceIndex = this.#linkTo(router.address);
        if (interfaceIndex === undefined) {
          return [
            `no route to ${address} by ${router.address}: it is not on a link of this host, whose gateway has to know the VIP`,
          ];
        }
        this.#routes.setRoute({
          destination: hostPrefix(address),
          protocol: ROUTE_PROTOCOL,
          metric: FIRST_METRIC + index,
          gateway: router.address,
          interfaceIndex,
        });
        return [`${address} goes by ${router.address}`];
      }),
    );
  }

  /** Removes every route of ours, also those of VIPs that are no longer configured. @returns what was done, one phrase each */
  remove(): readonly string[] {
    const ours = this.#routes
      .routes({ table: RouteTable.Main, protocol: ROUTE_PROTOCOL })
      .filter(({ metric = 0 }) => metric >= FIRST_METRIC && metric < FIRST_METRIC + 100);
    for (const { destination, metric } of ours) {
      this.#routes.deleteRoute({
        destination,
        protocol: ROUTE_PROTOCOL,
        ...(metric === undefined ? {} : { metric }),
      });
    }
    return ours.map(({ destination }) => `removed the route to ${destination}`);
  }

  /** The link that a load balancer is on; undefined when it is behind a gateway, or there is no way to it. */
  #linkTo(router: string): number | undefined {
    try {
      const { gateway, interfaceIndex, type } = this.#routes.routeTo(router);
      return gateway === undefined && type === 'unicast' ? interfaceIndex : undefined;
    } catch (error) {
      if (error instanceof NetlinkError) return undefined;
      throw error;
    }
  }
}

function hostPrefix(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}
