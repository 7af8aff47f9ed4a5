import { RouteSocket } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
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
  { dataplane, vips }: RouterConfig,
  clock: Clock,
  observer: OnLinkObserver,
): OnLinkResponder {
  const isMacvlan = dataplane.proxyMode === 'macvlan';
  if (!isMacvlan) removeLeftovers(observer);
  return new OnLinkResponder({
    interfaces: dataplane.proxyInterfaces,
    addresses: vips.map(({ address }) => address),
    host: linuxOnLinkHost,
    clock,
    virtualLinks: isMacvlan
      ? new VirtualLinks({
          clock,
          protocol: dataplane.protocol,
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
