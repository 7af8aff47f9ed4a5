import { hostPrefix } from '@bgp-lb/protocol';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import type { VipEndpoint } from '../data-plane.ts';
import type { KernelVip } from './kernel-data-plane-options.ts';

/**
 * How far a VIP is. `new`: not forwarded before the filter knows it (invariant 9). `leaving`: withdrawn, and forwarded as it
 * was until then (monotonic ms), for what is on its way.
 */
type Phase = 'new' | 'carried' | { readonly leavesAt: number };

interface Carried {
  readonly vip: KernelVip;
  readonly nextHops: readonly WeightedNextHop[];
  readonly phase: Phase;
}

/** The VIPs that the kernel carries, each with the next hops that are to serve it. */
export class CarriedVips {
  #carried: ReadonlyMap<string, Carried>;

  constructor(vips: readonly KernelVip[]) {
    this.#carried = new Map(vips.map((vip) => [vip.prefix, { vip, nextHops: [], phase: 'carried' }]));
  }

  /** Every one, those that leave too. */
  get all(): readonly KernelVip[] {
    return [...this.#carried.values()].map(({ vip }) => vip);
  }

  /** What the kernel is to forward, by prefix. */
  get wanted(): ReadonlyMap<string, readonly WeightedNextHop[]> {
    return this.#map(({ phase, nextHops }) => (phase === 'new' ? [] : nextHops));
  }

  /** What the owner asked for, by prefix: of VIPs that leave, the last. */
  get asked(): ReadonlyMap<string, readonly WeightedNextHop[]> {
    return this.#map(({ nextHops }) => nextHops);
  }

  /** All that are asked for, some more than once. */
  get nextHops(): readonly string[] {
    return [...this.#carried.values()].flatMap(({ nextHops }) => nextHops.map(({ nextHop }) => nextHop));
  }

  /** When the next one that leaves is to go (monotonic ms). */
  get leavesAt(): number | undefined {
    const times = [...this.#carried.values()].flatMap(({ phase }) =>
      typeof phase === 'object' ? [phase.leavesAt] : [],
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  isLeaving(prefix: string): boolean {
    return typeof this.#carried.get(prefix)?.phase === 'object';
  }

  /** @throws RangeError for a VIP that is not carried; nothing is changed then */
  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    const next = new Map(this.#carried);
    for (const [prefix, nextHops] of changes) {
      const carried = next.get(prefix);
      if (carried === undefined || this.isLeaving(prefix)) {
        throw new RangeError(`VIP ${prefix}: not configured`);
      }
      next.set(prefix, { ...carried, nextHops });
    }
    this.#carried = next;
  }

  /**
   * Carries these from now on. The others leave at `leavesAt`.
   * @returns the prefixes of those that were not carried, those that were about to leave among them
   */
  set(endpoints: readonly VipEndpoint[], leavesAt: number): readonly string[] {
    const before = this.#carried;
    const vips = endpoints.map((endpoint) => ({ ...endpoint, prefix: hostPrefix(endpoint.address) }));
    const added = vips
      .map(({ prefix }) => prefix)
      .filter((prefix) => !before.has(prefix) || this.isLeaving(prefix));
    const next = new Map<string, Carried>();
    for (const vip of vips) {
      const { nextHops = [], phase = 'new' } = before.get(vip.prefix) ?? {};
      next.set(vip.prefix, { vip, nextHops, phase: typeof phase === 'object' ? 'carried' : phase });
    }
    for (const [prefix, carried] of before) {
      const phase = typeof carried.phase === 'object' ? carried.phase : { leavesAt };
      if (!next.has(prefix)) next.set(prefix, { ...carried, phase });
    }
    this.#carried = next;
    return added;
  }

  /** The filter knows these. @returns whether one of them was not forwarded for want of it */
  filtered(vips: readonly KernelVip[]): boolean {
    const known = new Set(vips.map(({ prefix }) => prefix));
    const isWaiting = ({ vip, phase }: Carried): boolean => phase === 'new' && known.has(vip.prefix);
    if (![...this.#carried.values()].some(isWaiting)) return false;
    this.#carried = this.#map((one) => (isWaiting(one) ? { ...one, phase: 'carried' } : one));
    return true;
  }

  /** Forgets those that leave and whose time is over by `now`. */
  drop(now: number): void {
    this.#carried = new Map(
      [...this.#carried].filter(([, { phase }]) => typeof phase !== 'object' || phase.leavesAt > now),
    );
  }

  #map<T>(of: (carried: Carried) => T): ReadonlyMap<string, T> {
    return new Map([...this.#carried].map(([prefix, carried]) => [prefix, of(carried)]));
  }
}
