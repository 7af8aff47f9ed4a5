import { hostPrefix } from '@bgp-lb/protocol';
import type { RouterConfig } from '../config/router-config.ts';

/** Since when each VIP is forwarded to a member, or to none. */
export class ForwardingTimes {
  readonly #now: () => number;
  readonly #times = new Map<string, { readonly isForwarded: boolean; readonly since: number }>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number, config: Pick<RouterConfig, 'vips'>) {
    this.#now = now;
    this.configure(config);
  }

  /** A VIP that is new is forwarded to no member until something else is said. */
  configure(config: Pick<RouterConfig, 'vips'>): void {
    const vips = config.vips.map(({ address }) => hostPrefix(address));
    for (const vip of this.#times.keys()) {
      if (!vips.includes(vip)) this.#times.delete(vip);
    }
    for (const vip of vips) {
      if (!this.#times.has(vip)) this.#times.set(vip, { isForwarded: false, since: this.#now() });
    }
  }

  /** What a VIP is forwarded to has changed. */
  changed(vip: string, nextHops: readonly string[]): void {
    const isForwarded = nextHops.length > 0;
    const before = this.#times.get(vip);
    if (before !== undefined && before.isForwarded !== isForwarded) {
      this.#times.set(vip, { isForwarded, since: this.#now() });
    }
  }

  /** Monotonic milliseconds. */
  sinceOf(vip: string): number {
    return this.#times.get(vip)?.since ?? this.#now();
  }
}
