import { hostPrefix } from '@bgp-lb/protocol';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip } from '../data-plane.ts';
import { CheckDissent } from './check-dissent.ts';
import { backendOf } from './haproxy-settings.ts';
import { OverruledChecks } from './overruled-checks.ts';
import type { RunningServer } from './run-time-answers.ts';

export interface ChecksByVipOptions {
  /** The pool uses this member although its health says otherwise. */
  readonly isByPool: (vip: string, nextHop: string) => boolean;
  readonly onDissent: (vip: string, nextHop: string, text: string | undefined) => void;
}

/** What becomes of HAProxy's own checks of the members, VIP by VIP. */
export class ChecksByVip {
  readonly #options: ChecksByVipOptions;
  /** By prefix. */
  readonly #vips = new Map<string, { readonly overruled: OverruledChecks; readonly dissent: CheckDissent }>();

  constructor(options: ChecksByVipOptions) {
    this.#options = options;
  }

  /** Whether a member is used whatever HAProxy's check says. */
  isOverruled(vip: string, nextHop: string): boolean {
    return this.#vips.get(vip)?.overruled.has(nextHop) === true;
  }

  /** @param servers of all VIPs as they are */
  look(
    { address }: CarriedVip,
    nextHops: readonly WeightedNextHop[],
    servers: readonly RunningServer[],
    now: number,
  ): void {
    const vip = hostPrefix(address);
    const { isByPool, onDissent } = this.#options;
    const checks = this.#vips.get(vip) ?? { overruled: new OverruledChecks(), dissent: new CheckDissent() };
    this.#vips.set(vip, checks);
    const own = servers.filter(({ backend }) => backend === backendOf(address));
    const isByThis = (nextHop: string): boolean => isByPool(vip, nextHop);
    checks.overruled.look(nextHops, own, isByThis, now);
    for (const { nextHop, text } of checks.dissent.look(nextHops, own, isByThis, now)) {
      onDissent(vip, nextHop, text);
    }
  }

  forget(vip: string): void {
    this.#vips.delete(vip);
  }
}
