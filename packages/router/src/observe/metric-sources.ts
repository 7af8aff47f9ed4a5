import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';
import type { Pool } from '../pool/pool.ts';
import type { MetricSources } from './router-metrics.ts';

/** What the gauges are read from. */
interface MetricParts {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: DataPlane;
  readonly onLink: OnLinkResponder;
  readonly bgp: BgpNeighbors;
}

/** The gauges as the router's parts have them at the moment. */
export function metricSources({ pools, dataPlane, onLink, bgp }: MetricParts): MetricSources {
  return {
    members: () =>
      [...pools.values()].flatMap((pool) => pool.members().map((member) => ({ vip: pool.vip, ...member }))),
    shares: () =>
      dataPlane
        .status({ shares: true })
        .vips.flatMap(({ vip, members }) =>
          members.map(({ nextHop, share }) => ({ vip, member: nextHop, share })),
        ),
    packets: () =>
      dataPlane
        .status({ shares: false, packets: true })
        .vips.flatMap(({ vip, members }) =>
          members.map(({ nextHop, packets }) => ({ vip, member: nextHop, packets })),
        ),
    forwarding: () =>
      [...pools.keys()].map((vip) => ({ vip, forwarding: dataPlane.forwarding(vip).length > 0 })),
    sessions: () => bgp.peers().map(({ peer, neighbor }) => ({ role: neighbor.role, state: peer.state })),
    rejectedConnections: () => bgp.rejectedConnections,
    onLink: () => onLink.status(),
  };
}
