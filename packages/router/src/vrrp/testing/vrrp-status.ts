import type { VrrpStatus } from '../vrrp-status.ts';

/** The status of a load balancer that stands by, beside a peer that has the VIPs and one that was never heard. */
export function vrrpStatus(over: Partial<VrrpStatus> = {}): VrrpStatus {
  return {
    interface: 'eth0',
    vrid: 100,
    state: 'backup',
    sinceMs: 61_000,
    why: '10.0.0.3 has them, with priority 250',
    owner: '10.0.0.3',
    priority: 240,
    unfit: null,
    peers: [
      { address: '10.0.0.3', isFit: true, heardMs: 120 },
      { address: '10.0.0.4', isFit: false, heardMs: null },
    ],
    problem: '',
    others: [],
    ...over,
  };
}
