import type { ClientCount, ClientCounts } from './client-counts.ts';

/** What clients sent within one look, by interface or member. */
interface Slice {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly arrived: ReadonlyMap<string, number>;
  readonly left: ReadonlyMap<string, number>;
  readonly sent: ReadonlyMap<string, number>;
  readonly followed: ReadonlyMap<string, number>;
  readonly established: ReadonlyMap<string, number>;
}

/** Sums over the newest slices. */
export interface Span {
  /** Milliseconds that it reaches back. */
  readonly ms: number;
  /** SYNs by the interface that they came by: all of them, and those that left. */
  readonly arrived: ReadonlyMap<string, number>;
  readonly left: ReadonlyMap<string, number>;
  /** By member. Connections begun too recently to be established by now are not among `followed`. */
  readonly sent: ReadonlyMap<string, number>;
  readonly followed: ReadonlyMap<string, number>;
  readonly established: ReadonlyMap<string, number>;
}

const kinds = ['arrived', 'left', 'sent', 'followed', 'established'] as const;

/** How far back is kept (ms). */
const KEPT: number = 300_000;
/** A connection that began less than this ago (ms) may yet be established. */
const LAG = 1500;

/** What clients of one VIP sent of late, slice by slice. Pure. */
export class ClientWindow {
  #slices: Slice[] = [];
  #before = new Map<string, number>();
  #hasBegun = false;

  /**
   * Takes what was counted until now. The first time that is only what to count from: it may be from before a start of the router.
   * @returns what is new, in all
   */
  add(counts: ClientCounts, now: number): Readonly<Record<(typeof kinds)[number], number>> {
    const slice: Slice = {
      at: now,
      arrived: this.#news('arrived', counts.arrived, ({ uplink }) => uplink),
      left: this.#news('left', counts.sent, ({ uplink }) => uplink),
      sent: this.#news('sent', counts.sent, ({ nextHop }) => nextHop),
      followed: this.#news('followed', counts.followed, ({ nextHop }) => nextHop),
      established: this.#news('established', counts.established, ({ nextHop }) => nextHop),
    };
    this.#slices = this.#slices.filter(({ at }) => now - at < KEPT);
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return { arrived: 0, left: 0, sent: 0, followed: 0, established: 0 };
    }
    if (kinds.some((kind) => slice[kind].size > 0)) this.#slices.push(slice);
    return {
      arrived: sum(slice.arrived),
      left: sum(slice.left),
      sent: sum(slice.sent),
      followed: sum(slice.followed),
      established: sum(slice.established),
    };
  }

  /** Forgets all slices; what comes is counted from where it is now. */
  clear(): void {
    this.#slices = [];
  }

  /** The sums over the newest slice, the two newest, and so on, as far back as `most` (ms). */
  *spans(now: number, most: number = KEPT): Generator<Span> {
    let sums = { arrived: nothing, left: nothing, sent: nothing, followed: nothing, established: nothing };
    for (const slice of [...this.#slices].reverse()) {
      if (now - slice.at > most) return;
      const isTooNew = now - slice.at < LAG;
      sums = {
        arrived: together(sums.arrived, slice.arrived),
        left: together(sums.left, slice.left),
        sent: together(sums.sent, slice.sent),
        followed: isTooNew ? sums.followed : together(sums.followed, slice.followed),
        established: together(sums.established, slice.established),
      };
      yield { ms: now - slice.at, ...sums };
    }
  }

  /** Since the last look; a counter that has less than before was made again. */
  #news(
    kind: string,
    counts: readonly ClientCount[],
    keyOf: (count: ClientCount) => string | undefined,
  ): ReadonlyMap<string, number> {
    const totals = new Map<string, number>();
    for (const count of counts) {
      const key = keyOf(count) ?? '';
      totals.set(key, (totals.get(key) ?? 0) + count.packets);
    }
    const news = new Map<string, number>();
    for (const [key, total] of totals) {
      const before = this.#before.get(`${kind} ${key}`) ?? 0;
      const more = total >= before ? total - before : total;
      if (more > 0) news.set(key, more);
    }
    for (const key of this.#before.keys()) if (key.startsWith(`${kind} `)) this.#before.delete(key);
    for (const [key, total] of totals) this.#before.set(`${kind} ${key}`, total);
    return news;
  }
}

const nothing: ReadonlyMap<string, number> = new Map();

function together(
  one: ReadonlyMap<string, number>,
  other: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const sums = new Map(one);
  for (const [key, count] of other) sums.set(key, (sums.get(key) ?? 0) + count);
  return sums;
}

/** All of them. */
export function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, count) => all + count, 0);
}
