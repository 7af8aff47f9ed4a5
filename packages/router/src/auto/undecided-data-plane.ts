import { hostPrefix } from '@bgp-lb/protocol';
import type {
  BucketMover,
  CarriedVip,
  DataPlane,
  DataPlaneHandlers,
  DataPlaneStatus,
  Difference,
  ProbeWays,
  StatusParts,
} from '../dataplane/data-plane.ts';
import type { WeightedNextHop } from '../pool/member-view.ts';

/**
 * A data plane that carries nothing until it is chosen: members are probed by its ways, and new connections fail at once, as with empty
 * pools. What it carries already when it starts it goes on with, and is chosen by that.
 */
export class UndecidedDataPlane implements DataPlane {
  readonly probeWays?: ProbeWays;
  readonly buckets?: BucketMover;
  readonly #inner: DataPlane;
  readonly #held = new Map<string, readonly WeightedNextHop[]>();
  #isChosen = false;
  #carries = false;

  constructor(inner: DataPlane) {
    this.#inner = inner;
    if (inner.probeWays !== undefined) this.probeWays = inner.probeWays;
    if (inner.buckets !== undefined) this.buckets = inner.buckets;
  }

  get kind(): string {
    return this.#inner.kind;
  }

  get title(): string {
    return this.#inner.title;
  }

  /** It carried a VIP when it was started. */
  get carries(): boolean {
    return this.#carries;
  }

  /** It is chosen: from now on it does what it was and is asked for. Whatever the inner one throws: nothing is changed then. */
  choose(): void {
    this.#inner.setNextHops(new Map(this.#held));
    this.#isChosen = true;
    this.#held.clear();
  }

  async start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>> {
    const adopted = await this.#inner.start(handlers);
    this.#carries = [...adopted.values()].some((nextHops) => nextHops.length > 0);
    if (this.#carries) this.#isChosen = true;
    return adopted;
  }

  setVips(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const carried = new Set(vips.map(({ address }) => hostPrefix(address)));
    for (const vip of [...this.#held.keys()].filter((one) => !carried.has(one))) this.#held.delete(vip);
    return this.#inner.setVips(vips);
  }

  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    if (this.#isChosen) this.#inner.setNextHops(changes);
    else for (const [vip, nextHops] of changes) this.#held.set(vip, nextHops);
  }

  forwarding(vip: string): readonly string[] {
    return this.#inner.forwarding(vip);
  }

  obstacle(vip: string): string | undefined {
    return this.#inner.obstacle(vip);
  }

  status(parts: StatusParts): DataPlaneStatus {
    return this.#inner.status(parts);
  }

  differences(): Promise<readonly Difference[]> {
    return this.#inner.differences();
  }

  checkAble(): void {
    this.#inner.checkAble();
  }

  stop(): Promise<void> {
    return this.#inner.stop();
  }
}
