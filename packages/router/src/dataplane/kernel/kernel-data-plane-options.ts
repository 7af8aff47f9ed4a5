import type { VipEndpoint } from '../data-plane.ts';

/** A VIP as the kernel is to carry it. */
export interface KernelVip extends VipEndpoint {
  /** `10.100.0.1/32` */
  readonly prefix: string;
}

export interface KernelDataPlaneOptions {
  readonly vips: readonly KernelVip[];
  readonly table: number;
  readonly protocol: number;
  readonly buckets: number;
  /** Milliseconds. */
  readonly idleTimer: number;
  /** Where clients reach VIPs of a subnet: a redirect there would send them past us. */
  readonly proxyInterfaces?: readonly string[];
  /** Addresses of the routers that have the VIPs from us now, a link-local one with its zone. */
  readonly upstreams: () => readonly string[];
  /** First of the marks and routing tables for health probes. */
  readonly markBase: number;
  readonly manageSysctls: boolean;
  /** Milliseconds between two looks at everything, whatever the kernel says. */
  readonly repairInterval: number;
}
