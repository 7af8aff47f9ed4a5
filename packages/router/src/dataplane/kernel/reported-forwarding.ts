/** The next hops that each VIP is forwarded to, as they were last reported. */
export class ReportedForwarding {
  readonly #nextHops = new Map<string, readonly string[]>();

  get all(): ReadonlyMap<string, readonly string[]> {
    return this.#nextHops;
  }

  of(vip: string): readonly string[] {
    return this.#nextHops.get(vip) ?? [];
  }

  /** Notes what there is now, sorted. @returns whether it is not what was reported */
  note(vip: string, nextHops: readonly string[]): boolean {
    if (nextHops.join() === this.of(vip).join()) return false;
    this.#nextHops.set(vip, nextHops);
    return true;
  }

  /** Forgets VIPs that are not among these. */
  retain(vips: { has(vip: string): boolean }): void {
    for (const vip of this.#nextHops.keys()) {
      if (!vips.has(vip)) this.#nextHops.delete(vip);
    }
  }
}
