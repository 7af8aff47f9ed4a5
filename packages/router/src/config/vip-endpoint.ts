import { hostPrefix } from '@bgp-lb/protocol';
import type { CarriedVip } from '../dataplane/data-plane.ts';
import type { RouterConfig } from './router-config.ts';

/** Where clients of a VIP connect to, and where that leads. @throws RangeError for a VIP that is not configured */
export function endpointOf({ vips }: Pick<RouterConfig, 'vips'>, vip: string): CarriedVip {
  const found = vips.find(({ address }) => hostPrefix(address) === vip);
  if (found === undefined) {
    throw new RangeError(`VIP ${vip}: not configured`);
  }
  return { address: found.address, port: found.port, machinePort: found.machinePort };
}

/** Addresses of the VIPs that masters may announce. */
export function announcedVips({ vips }: Pick<RouterConfig, 'vips'>): string[] {
  return vips.filter(({ members }) => members.bgp).map(({ address }) => address);
}
