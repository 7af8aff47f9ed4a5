import { hostPrefix } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';

import type { WeightedNextHop } from '../../pool/member-view.ts';
import type {
  CarriedVip,
  DataPlane,
  DataPlaneHandlers,
  DataPlaneStatus,
  Difference,
  VipForwarding,
} from '../data-plane.ts';

/** How long a VIP that is carried no more is forwarded as it was (ms). */
const LEAVE = 2000;

/** What forwards, and outlives the processes that tell it what to do. */
export class MemoryHost {
  readonly forwarded: Map<string, readonly WeightedNextHop[]> = new Map();
  #connections = 0;

  /** What a client of the VIP sees: the member that answers, or the code of its error. */
  connect(vip: string): string {
    const nextHops = this.forwarded.get(vip) ?? [];
    const total = nextHops.reduce((sum, { weight }) => sum + weight, 0);
    // 97 has no factor in common with sums of weights that are used: each share is hit in turn.
    let place = total === 0 ? 0 : (this.#connections++ * 97) % total;
    for (const { nextHop, weight } of nextHops) {
      if (place < weight) return nextHop;
      place -= weight;
    }
    return 'ECONNREFUSED';
  }
}

/** A data plane in memory: it has no ways for probes, and no hash buckets. */
export class MemoryDataPlane implements DataPlane {
  readonly kind = 'memory';
  readonly title = 'memory';
  readonly #host: MemoryHost;
  readonly #clock: Clock;
  #vips: readonly string[];
  readonly #leaving = new Map<string, () => void>();
  #handlers: DataPlaneHandlers | undefined;

  constructor(host: MemoryHost, clock: Clock, vips: readonly CarriedVip[]) {
    this.#host = host;
    this.#clock = clock;
    this.#vips = vips.map(({ address }) => hostPrefix(address));
  }

  async start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>> {
    this.#handlers = handlers;
    return this.#found(this.#vips);
  }

  setVips(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const next = vips.map(({ address }) => hostPrefix(address));
    for (const vip of this.#vips.filter((one) => !next.includes(one))) {
      const leave = this.#clock.after(LEAVE, () => {
        this.#leaving.delete(vip);
        this.#host.forwarded.delete(vip);
      });
      this.#leaving.set(vip, leave);
    }
    const added = next.filter((one) => !this.#vips.includes(one));
    for (const vip of added) {
      this.#leaving.get(vip)?.();
      this.#leaving.delete(vip);
    }
    this.#vips = next;
    return this.#found(added);
  }

  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    for (const [vip, nextHops] of changes) {
      const before = this.forwarding(vip);
      this.#host.forwarded.set(vip, nextHops);
      const after = this.forwarding(vip);
      if (after.join() !== before.join()) this.#handlers?.forwarding(vip, after);
    }
  }

  forwarding(vip: string): readonly string[] {
    const nextHops = this.#host.forwarded.get(vip) ?? [];
    return nextHops.map(({ nextHop }) => nextHop).sort();
  }

  obstacle(): undefined {
    return undefined;
  }

  status({ shares }: { readonly shares: boolean }): DataPlaneStatus {
    const vips = this.#vips.map((vip): VipForwarding => {
      const nextHops = this.#host.forwarded.get(vip) ?? [];
      const total = nextHops.reduce((sum, { weight }) => sum + weight, 0);
      return {
        vip,
        forwarding: nextHops.length > 0,
        members: nextHops.map(({ nextHop, weight }) => ({
          nextHop,
          weight,
          interfaceName: undefined,
          buckets: undefined,
          share: shares ? weight / total : 0,
          packets: undefined,
          problem: '',
        })),
        detail: {},
      };
    });
    return { kind: this.kind, title: this.title, destination: 'vip', vips, problems: [], warnings: [] };
  }

  async differences(): Promise<readonly Difference[]> {
    return [];
  }

  checkAble(): void {
    // Memory always answers.
  }

  async stop(): Promise<void> {
    this.#handlers = undefined;
    for (const [vip, cancel] of this.#leaving) {
      cancel();
      this.#host.forwarded.delete(vip);
    }
    this.#leaving.clear();
  }

  #found(vips: readonly string[]): Map<string, readonly WeightedNextHop[]> {
    return new Map(vips.map((vip) => [vip, this.#host.forwarded.get(vip) ?? []]));
  }
}
