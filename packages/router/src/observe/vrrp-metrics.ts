import { Gauge, type Registry } from 'prom-client';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';

const states = ['master', 'backup', 'fault', 'stop'] as const;

/** Gauges of VRRP, which ask with each scrape; none where this host has no part in it. */
export function observeVrrp(registry: Registry, prefix: string, read: () => VrrpStatus | undefined): void {
  new Gauge({
    name: `${prefix}vrrp_state`,
    help: '1 for the VRRP state of this load balancer, 0 for the others. `master` has the VIPs.',
    labelNames: ['interface', 'vrid', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      const status = read();
      for (const state of status === undefined ? [] : states) {
        const labels = { interface: status?.interface ?? '', vrid: String(status?.vrid), state };
        this.set(labels, status?.state === state ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: `${prefix}vrrp_fit`,
    help: '1 while this load balancer (`self`), or a peer by what it says, is able to serve.',
    labelNames: ['peer'],
    registers: [registry],
    collect() {
      this.reset();
      const status = read();
      if (status === undefined) return;
      this.set({ peer: 'self' }, status.unfit === null ? 1 : 0);
      for (const { address, isFit } of status.peers) this.set({ peer: address }, isFit ? 1 : 0);
    },
  });
}
