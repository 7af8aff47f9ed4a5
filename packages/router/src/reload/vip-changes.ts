import { isDeepStrictEqual } from 'node:util';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { announcedVips } from '../config/vip-endpoint.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { HealthChecker } from '../health/health-checker.ts';
import type { MembershipSources } from '../membership/membership-sources.ts';
import type { ForwardingTimes } from '../observe/forwarding-times.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';
import type { PoolController } from '../pool/pool-controller.ts';
import type { VipPools } from '../pool/vip-pools.ts';
import type { Rebalancer } from '../rebalance/rebalancer.ts';

/** What a reload does to VIPs, by address. */
export interface VipChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They have another port. */
  readonly changed: readonly string[];
}

/** Whom a change of the VIPs concerns. */
export interface VipParts {
  readonly advertiser: Pick<UpstreamAdvertiser, 'setAdvertised'>;
  readonly pools: Pick<VipPools, 'configure'>;
  readonly controller: Pick<PoolController, 'adopt' | 'begin' | 'end' | 'reconsider'>;
  readonly rebalancer: Pick<Rebalancer, 'forget'>;
  readonly dataPlane: Pick<DataPlane, 'setVips'>;
  readonly onLink: Pick<OnLinkResponder, 'setAddresses'>;
  readonly forwardingTimes: Pick<ForwardingTimes, 'setVips'>;
  readonly health: Pick<HealthChecker, 'restart'>;
  readonly membership: Pick<MembershipSources, 'standing' | 'configure'>;
  readonly bgp: Pick<BgpNeighbors, 'setVips'>;
}

/** Compares VIPs by their addresses. Pure. */
export function planVips(before: RouterConfig['vips'], after: RouterConfig['vips']): VipChanges {
  const known = new Map(before.map((vip) => [vip.address, vip]));
  const kept = new Set(after.map(({ address }) => address));
  return {
    added: after.map(({ address }) => address).filter((address) => !known.has(address)),
    removed: [...known.keys()].filter((address) => !kept.has(address)),
    changed: after
      .filter((vip) => {
        const was = known.get(vip.address);
        return was !== undefined && (was.port !== vip.port || was.machinePort !== vip.machinePort);
      })
      .map(({ address }) => address),
  };
}

/**
 * Brings everything to the VIPs of this configuration; nothing of one that stays is touched. One that goes is withdrawn before
 * anything else, and the data plane forwards it for a moment more. One that is new has a route and its floor before anybody is asked for
 * members, and is advertised, as always, when it is forwarded to one.
 * @returns names of peers that cannot be asked for what they have announced, and whose announcement of a new VIP may have been refused
 */
export function setVips(
  config: RouterConfig,
  { added, removed, changed }: VipChanges,
  parts: VipParts,
): readonly string[] {
  const { advertiser, pools, controller, rebalancer, dataPlane, onLink, health, membership, bgp } = parts;
  const addresses = config.vips.map(({ address }) => address);
  if (removed.length > 0) {
    advertiser.setAdvertised(new Map(removed.map((address) => [hostPrefix(address), { members: 0 }])));
  }
  pools.configure(config);
  for (const vip of removed.map(hostPrefix)) {
    controller.end(vip);
    rebalancer.forget(vip);
  }
  parts.forwardingTimes.setVips(addresses.map(hostPrefix));
  const adopted = dataPlane.setVips(config.vips);
  for (const vip of added.map(hostPrefix)) {
    controller.adopt(vip, adopted.get(vip) ?? []);
    controller.begin(vip, membership.standing());
  }
  onLink.setAddresses(addresses);
  for (const vip of changed.map(hostPrefix)) {
    health.restart(vip);
  }
  if (changed.length > 0) {
    controller.reconsider();
  }
  return bgp.setVips(announcedVips(config));
}

/** Keys of the VIPs that have their members from elsewhere now. Pure. */
export function memberKeys(before: RouterConfig['vips'], after: RouterConfig['vips']): string[] {
  const known = new Map(before.map((vip) => [vip.address, vip.members]));
  return after
    .filter(({ address, members }) => known.has(address) && !isDeepStrictEqual(known.get(address), members))
    .map(({ address }) => `vips.${address}.members`);
}
