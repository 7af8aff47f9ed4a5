import type { Clock } from '@bgp-lb/protocol/node';
import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import { EvidenceReader } from '../dataplane/kernel/evidence-reader.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import { ClientWatch } from './client-watch.ts';

export interface WatchedRouter {
  readonly config: () => RouterConfig;
  readonly pools: ReadonlyMap<string, unknown>;
  readonly dataPlane: Pick<DataPlane, 'forwarding'>;
  readonly clock: Clock;
  readonly observer: RouterObserver;
  /** Clients of a VIP are not served by these members: why, by next hop. */
  readonly doubt: (vip: string, doubts: ReadonlyMap<string, string>) => void;
}

/** Watches the clients of a router's VIPs by what the kernel counts. */
export function watchClients({
  config,
  pools,
  dataPlane,
  clock,
  observer,
  doubt,
}: WatchedRouter): ClientWatch {
  const reader = new EvidenceReader();
  return new ClientWatch({
    clock,
    read: () => reader.read(),
    close: () => reader.close(),
    // Only the kernel's data plane leaves connections to the kernel: another one sees both ways of them itself.
    vips: () => (config().dataplane.kind === 'kernel' ? pools.keys() : []),
    forwarding: (vip) => dataPlane.forwarding(vip),
    panicThreshold: () => config().pool.panicThreshold,
    doubts: (vip, doubts) => {
      if (config().pool.clientEvidence) doubt(vip, doubts);
    },
    changed: (vip, evidence) => observer.clients(vip, evidence),
    counted: (vip, news) => observer.clientPackets(vip, news),
    failed: (problem) => observer.problem(`what clients send cannot be counted: ${problem}`),
  });
}
