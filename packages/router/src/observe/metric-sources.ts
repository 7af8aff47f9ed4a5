import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { HostDrain } from '../drain/host-drain.ts';
import type { MembershipSources } from '../membership/membership-sources.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';
import type { Pool } from '../pool/pool.ts';
import type { VirtualRouter } from '../vrrp/virtual-router.ts';
import type { MetricSources } from './router-metrics.ts';

/** What the gauges are read from. */
interface MetricParts {
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: DataPlane;
  readonly onLink: OnLinkResponder;
  readonly bgp: BgpNeighbors;
  readonly advertiser: UpstreamAdvertiser;
  readonly drain: HostDrain;
  readonly membership: MembershipSources;
  readonly virtualRouter: Pick<VirtualRouter, 'status'> | undefined;
}

/** The gauges as the router's parts have them at the moment. */
export function metricSources({
  pools,
  dataPlane,
  onLink,
  bgp,
  advertiser,
  drain,
  membership,
  virtualRouter,
}: MetricParts): MetricSources {
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
    carried: () =>
      dataPlane.status({ shares: false }).vips.flatMap(({ vip, members }) =>
        members.map(({ nextHop, connections, check }) => ({
          vip,
          member: nextHop,
          connections,
          passes: check?.passes,
        })),
      ),
    forwarding: () =>
      [...pools.keys()].map((vip) => ({ vip, forwarding: dataPlane.forwarding(vip).length > 0 })),
    advertised: () =>
      [...pools.keys()].flatMap((vip) =>
        advertiser.advertisements(vip).map(({ upstream, advertised }) => ({ vip, upstream, advertised })),
      ),
    drain: () => drain.phase,
    sessions: () =>
      bgp
        .peers()
        .map(({ peer, neighbor }) => ({ neighbor: peer.name, role: neighbor.role, state: peer.state })),
    rejectedConnections: () => bgp.rejectedConnections,
    onLink: () => onLink.status(),
    memberSources: () => membership.status(),
    vrrp: () => virtualRouter?.status(),
  };
}
