/** The most members that can be probed at the same time. */
const MAX_MARKS = 1023;

/**
 * Firewall marks of probed members: the base is for answers, base + 1 and up for members. A mark is also the number
 * of its routing table.
 */
export class ProbeMarks {
  readonly base: number;
  #marks = new Map<string, number>();

  constructor(base: number) {
    this.base = base;
  }

  /** The marks in use, by next hop. */
  get all(): ReadonlyMap<string, number> {
    return this.#marks;
  }

  /** Keeps the marks of these next hops, gives new ones the lowest free mark, and forgets all others. */
  set(nextHops: readonly string[]): void {
    const kept = new Map(
      nextHops.flatMap((nextHop) => {
        const mark = this.#marks.get(nextHop);
        return mark === undefined ? [] : [[nextHop, mark] as const];
      }),
    );
    const taken = new Set(kept.values());
    let next = this.base + 1;
    for (const nextHop of nextHops.slice(0, MAX_MARKS)) {
      if (kept.has(nextHop)) {
        continue;
      }
      while (taken.has(next)) {
        next++;
      }
      taken.add(next);
      kept.set(nextHop, next);
    }
    this.#marks = kept;
  }
}
