import type { RouterConfig } from '../config/router-config.ts';

/** A VIP of the configuration with what the defaults are. */
export function vipOf(address: string): RouterConfig['vips'][number] {
  return { address, port: 6443, machinePort: 6443, members: { bgp: true, static: [] } };
}
