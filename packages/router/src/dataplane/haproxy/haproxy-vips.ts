import { hostPrefix } from '@bgp-lb/protocol';
import { FULL_WEIGHT, LEAST_WEIGHT, type WeightedNextHop } from '../../pool/member-view.ts';
import type { CarriedVip } from '../data-plane.ts';
import { backendOf } from './haproxy-settings.ts';
import type { RunningServer } from './run-time-answers.ts';

/** The VIPs that HAProxy carries, each with the next hops that are to serve it. */
export class HaproxyVips {
  #current: readonly CarriedVip[];
  /** Withdrawn, and served as before until then (monotonic ms), for what is on its way. */
  readonly #leaving = new Map<string, { readonly vip: CarriedVip; readonly until: number }>();
  readonly #nextHops = new Map<string, readonly WeightedNextHop[]>();

  constructor(vips: readonly CarriedVip[]) {
    this.#current = vips;
  }

  get current(): readonly CarriedVip[] {
    return this.#current;
  }

  /** Those that leave too. */
  get all(): readonly CarriedVip[] {
    return [...this.#current, ...[...this.#leaving.values()].map(({ vip }) => vip)];
  }

  /** @param vip as a prefix */
  nextHops(vip: string): readonly WeightedNextHop[] {
    return this.#nextHops.get(vip) ?? [];
  }

  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    for (const [vip, nextHops] of changes) this.#nextHops.set(vip, nextHops);
  }

  /** @param until when those that are there no more are to go */
  set(vips: readonly CarriedVip[], until: number): void {
    const stays = new Set(vips.map(({ address }) => address));
    for (const vip of this.#current.filter(({ address }) => !stays.has(address)))
      this.#leaving.set(vip.address, { vip, until });
    for (const address of stays) this.#leaving.delete(address);
    this.#current = vips;
  }

  /** Whether it is known of each VIP what is to serve it. */
  get areKnown(): boolean {
    return this.all.every(({ address }) => this.#nextHops.has(hostPrefix(address)));
  }

  /** Takes what HAProxy uses for a VIP as what is to serve it, where nothing is known yet. */
  adopt(servers: readonly RunningServer[]): void {
    for (const one of this.all) {
      const vip = hostPrefix(one.address);
      if (!this.#nextHops.has(vip)) this.#nextHops.set(vip, usedServers(one, servers));
    }
  }

  /** Forgets those whose time is over. @returns their prefixes */
  drop(now: number): readonly string[] {
    const gone = [...this.#leaving].filter(([, { until }]) => now >= until).map(([address]) => address);
    for (const address of gone) {
      this.#leaving.delete(address);
      this.#nextHops.delete(hostPrefix(address));
    }
    return gone.map(hostPrefix);
  }
}

function usedServers(
  { address, machinePort }: CarriedVip,
  servers: readonly RunningServer[],
): WeightedNextHop[] {
  const backend = backendOf(address);
  const used = servers.filter(
    (one) => one.backend === backend && (one.admin === 'ready' || (one.admin === 'drain' && isProven(one))),
  );
  return used.map(({ name, admin, port }) => ({
    nextHop: name,
    weight: admin === 'ready' ? FULL_WEIGHT : LEAST_WEIGHT,
    ...(port !== machinePort && { port }),
  }));
}

/** What waits for its first check is not used yet. */
function isProven({ check, sessions }: RunningServer): boolean {
  return check === 'L7OK' || sessions > 0;
}
