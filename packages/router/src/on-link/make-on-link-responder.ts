import { RouteSocket } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import { onLinkInterfaces } from '../config/on-link-interfaces.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { linuxOnLinkHost, OnLinkResponder, type OnLinkResponderOptions } from './on-link-responder.ts';
import { removeVirtualLinks, VirtualLinks } from './virtual-links.ts';

/** Who is told. */
export interface OnLinkObserver {
  onLink: OnLinkResponderOptions['changed'];
  repaired(what: readonly string[]): void;
  problem(problem: string): void;
}

/** What answers for VIPs of a subnet, as configured. Devices of another mode, which an earlier process has left, are removed. */
export function makeOnLinkResponder(
  config: RouterConfig,
  clock: Clock,
  observer: OnLinkObserver,
): OnLinkResponder {
  const { dataplane, vips, vrrp } = config;
  // Another data plane has the VIPs itself: the host that owns an address answers for it.
  const kernel = dataplane.kind === 'kernel' ? dataplane : undefined;
  const macvlan = kernel?.proxyMode === 'macvlan' ? kernel : undefined;
  if (macvlan === undefined) removeLeftovers(observer);
  return new OnLinkResponder({
    interfaces: onLinkInterfaces(config),
    addresses: vips.map(({ address }) => address),
    host: linuxOnLinkHost,
    clock,
    isOrdered: vrrp !== undefined,
    virtualLinks: macvlan
      ? new VirtualLinks({
          clock,
          protocol: macvlan.protocol,
          repaired: (what) => observer.repaired(what),
          failing: (problem) => observer.problem(problem),
        })
      : undefined,
    changed: (change) => observer.onLink(change),
  });
}

function removeLeftovers(observer: OnLinkObserver): void {
  const routes = new RouteSocket();
  try {
    removeVirtualLinks(routes, false);
  } catch (error) {
    observer.problem(error instanceof Error ? error.message : String(error));
  } finally {
    routes.close();
  }
}
