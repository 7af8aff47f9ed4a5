import type { Readiness } from '@bgp-lb/daemon';
import type { UpstreamAdvertisement } from '../bgp/upstream-advertiser.ts';
import type { DrainPhase } from '../drain/host-drain.ts';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';
import { withheldText } from './router-status.ts';

/** What the readiness of a load balancer follows from. */
interface ReadinessFacts {
  readonly drain: DrainPhase;
  /** Undefined where this host has no part in VRRP. */
  readonly vrrp: Pick<VrrpStatus, 'state' | 'why' | 'problem'> | undefined;
  readonly vips: readonly {
    readonly vip: string;
    /** How many members it is forwarded to. */
    readonly forwarding: number;
    /** What keeps all its clients from them, in words. */
    readonly obstacle: string | undefined;
    /** One for each upstream. */
    readonly advertisements: readonly UpstreamAdvertisement[];
  }[];
}

/**
 * Ready when clients are served by this load balancer: it is not drained, and every VIP is forwarded to a member and, where there are
 * upstreams, one of them has it. One that stands by in VRRP is ready too: it serves as soon as the VIPs are its own. Pure.
 */
export function readiness({ drain, vrrp, vips }: ReadinessFacts): Readiness {
  if (drain !== 'none') return { ready: false, reason: 'this load balancer is drained' };
  if (vrrp?.state === 'fault' || vrrp?.state === 'stop') {
    return {
      ready: false,
      reason: `VRRP is in ${vrrp.state}: ${vrrp.problem === '' ? vrrp.why : vrrp.problem}`,
    };
  }
  const faults = vips.flatMap(({ vip, forwarding, obstacle, advertisements }) => {
    if (forwarding === 0) return [`${vip} is forwarded to no member`];
    if (obstacle !== undefined) return [`${vip}: ${obstacle}`];
    const isDrawn = advertisements.length === 0 || advertisements.some(({ advertised }) => advertised);
    return isDrawn ? [] : [`${vip} is not advertised: ${withheldText(advertisements)}`];
  });
  return faults.length === 0 ? { ready: true } : { ready: false, reason: faults.join('; ') };
}
