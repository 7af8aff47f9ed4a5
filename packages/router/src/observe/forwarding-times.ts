/** Since when each VIP is forwarded to somebody, or to nobody. */
export class ForwardingTimes {
  readonly #now: () => number;
  readonly #times = new Map<string, { readonly isForwarded: boolean; readonly since: number }>();

  /** @param now monotonic milliseconds. @param vips as prefixes, `10.100.0.1/32` */
  constructor(now: () => number, vips: readonly string[]) {
    this.#now = now;
    this.setVips(vips);
  }

  /** The VIPs from now on; one that is new is forwarded to nobody until something else is said. */
  setVips(vips: readonly string[]): void {
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
