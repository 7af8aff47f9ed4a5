import { type KernelChange, NetlinkError, type Route, type RouteSocket, RouteTable } from '@bgp-lb/linux';
import {
  hostPrefix,
  isSameVersion,
  parseIpAddress,
  parsePrefix,
  prefixContains,
  withoutZone,
} from '@bgp-lb/protocol';
import type { VipConfig } from '../config/speaker-config.ts';

/** RTPROT_* of our routes, as of our addresses. */
const ROUTE_PROTOCOL = 84;

/** Below any route that another program may have for the VIP; the routers follow each other in the order of the configuration. */
const FIRST_METRIC = 8_400;

type Routes = Pick<RouteSocket, 'routes' | 'setRoute' | 'deleteRoute' | 'routeTo'>;

export interface VipRoutesOptions {
  readonly vips: readonly VipConfig[];
  /** Addresses of the load balancers, which may change. */
  readonly routers: () => readonly string[];
  /** Without it, none of our routes is to be there. */
  readonly routeToVip: boolean;
}

/** What was done, and what keeps a route from being there: one phrase each. */
export interface RouteReport {
  readonly done: readonly string[];
  readonly missing: readonly string[];
}

interface WantedRoute {
  readonly destination: string;
  readonly metric: number;
  readonly gateway: string;
  readonly interfaceIndex: number;
}

/**
 * The routes of this host to the VIPs, by the load balancers: for a VIP outside every subnet that has no other route. The
 * address on `lo` wins over them, once it is bound. Ours are those with our protocol and one of our metrics.
 */
export class VipRoutes {
  readonly #routes: Routes;
  readonly #options: VipRoutesOptions;

  constructor(routes: Routes, options: VipRoutesOptions) {
    this.#routes = routes;
    this.#options = options;
  }

  /**
   * Makes our routes one to each VIP by each load balancer of its family that is on link, and removes all others of ours, those of
   * VIPs and load balancers that are no longer configured included.
   * @throws NetlinkError
   */
  settle(): RouteReport {
    const { wanted, missing } = this.#wanted();
    const present = this.#routes
      .routes({ table: RouteTable.Main, protocol: ROUTE_PROTOCOL })
      .filter(({ metric = 0 }) => metric >= FIRST_METRIC && metric < FIRST_METRIC + 100);
    const removed = present
      .filter((route) => !wanted.some((one) => isSameRoute(one, route)))
      .map(({ destination, metric }) => {
        this.#routes.deleteRoute({ destination, protocol: ROUTE_PROTOCOL, ...optional({ metric }) });
        return `removed the route to ${destination}`;
      });
    const set = wanted
      .filter((one) => !present.some((route) => isSameRoute(one, route) && isSameWay(one, route)))
      .map((one) => {
        // Whatever has its place is replaced.
        this.#routes.setRoute({ ...one, protocol: ROUTE_PROTOCOL });
        return `${one.destination} goes by ${one.gateway}`;
      });
    return { done: [...removed, ...set], missing };
  }

  /** Whether a change of a route may call for a pass: it is about a VIP, or about a way to a load balancer. */
  isConcernedBy(change: Extract<KernelChange, { kind: 'route' }>): boolean {
    const { destination } = change.object;
    const { vips, routers } = this.#options;
    if (vips.some(({ address }) => hostPrefix(address) === destination)) return true;
    const prefix = parsePrefix(destination);
    return routers().some((router) => prefixContains(prefix, parseIpAddress(withoutZone(router))));
  }

  #wanted(): { readonly wanted: readonly WantedRoute[]; readonly missing: readonly string[] } {
    const { vips, routers, routeToVip } = this.#options;
    const wanted: WantedRoute[] = [];
    const missing: string[] = [];
    if (!routeToVip) return { wanted, missing };
    for (const { address } of vips) {
      for (const [index, router] of routers().entries()) {
        if (!isSameVersion(router, address)) continue;
        const interfaceIndex = this.#linkTo(router);
        if (interfaceIndex === undefined) {
          missing.push(
            `no route to ${address} by ${router}: it is not on a link of this host, whose gateway has to know the VIP`,
          );
        } else {
          const destination = hostPrefix(address);
          wanted.push({
            destination,
            metric: FIRST_METRIC + index,
            gateway: withoutZone(router),
            interfaceIndex,
          });
        }
      }
    }
    return { wanted, missing };
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

function isSameRoute(one: WantedRoute, { destination, metric }: Route): boolean {
  return one.destination === destination && one.metric === metric;
}

function isSameWay(one: WantedRoute, { type, gateway, interfaceIndex }: Route): boolean {
  return type === 'unicast' && one.gateway === gateway && one.interfaceIndex === interfaceIndex;
}

function optional({ metric }: { readonly metric: number | undefined }): { readonly metric?: number } {
  return metric === undefined ? {} : { metric };
}
