import { type ClientWindow, type Span, sum } from './client-window.ts';

/** Connections that a member would have established if it did as the others do: fewer prove nothing. */
const LEAST_EXPECTED = 16;
/** So many standard deviations (of a Poisson distribution) below that are no chance: it happens once in 30,000 looks. */
const DEVIATIONS = 4;
/** One that establishes more than this part of it is not doubted, however sure the difference is. */
const WORST_PART = 0.5;
/** One that establishes this part of it is good. */
const GOOD_PART = 0.75;
/** The others prove nothing either if they establish less than this part of what they get. */
const LEAST_OF_OTHERS = 0.1;
/** Between two members that are newly doubted (ms). */
const SPACING = 10_000;
/** How long a member is doubted before it is given another chance (ms), which doubles each time. */
const FIRST_HOLD = 60_000;
const LONGEST_HOLD = 600_000;
/** One that was not doubted for so long (ms) begins again. */
const FORGOTTEN = 3_600_000;

/** Between two looks at the counters (ms); one costs some hundred microseconds. */
export const LOOK: number = 2000;

interface Doubt {
  readonly reason: string;
  readonly since: number;
  readonly until: number;
}

interface History {
  readonly hold: number;
  /** Until when it was doubted: what was counted before says nothing any more. */
  readonly ended: number;
}

/**
 * The members of one VIP whose clients are not served though those of the others are. At most one more in ten seconds, never so many that
 * less than the panic threshold is left, and each for a bounded time: few connections are sent to a doubted member, so that it could not
 * prove that it is well again. Pure.
 */
export class DoubtedMembers {
  #doubts = new Map<string, Doubt>();
  /** When the VIP was first forwarded to each, or was again. */
  #joined = new Map<string, number>();
  #history = new Map<string, History>();
  #lastDoubt = Number.NEGATIVE_INFINITY;

  /** Why, by next hop. */
  get reasons(): ReadonlyMap<string, string> {
    return new Map([...this.#doubts].map(([nextHop, { reason }]) => [nextHop, reason]));
  }

  /** The VIP is forwarded to these from now on. One that comes back is not judged by what it could not answer while it was dead. */
  forwarding(members: readonly string[], now: number): void {
    this.#joined = new Map(members.map((nextHop) => [nextHop, this.#joined.get(nextHop) ?? now]));
  }

  /** @param panicThreshold the part of the members (0 to 1) that is never doubted */
  look(window: ClientWindow, members: readonly string[], panicThreshold: number, now: number): void {
    this.#lift(window, members, now);
    const most = Math.min(members.length - 1, Math.floor(members.length * (1 - panicThreshold)));
    for (const nextHop of members) {
      if (this.#doubts.size >= most || now - this.#lastDoubt < SPACING) return;
      if (this.#doubts.has(nextHop)) continue;
      const verdict = compare(window, nextHop, now, this.#judgedSince(nextHop));
      if (verdict?.isGood === false) this.#doubt(nextHop, verdict.reason, now);
    }
  }

  /** What was counted earlier says nothing of it any more. A look counts what came since the one before. */
  #judgedSince(nextHop: string): number {
    const ended = this.#history.get(nextHop)?.ended ?? Number.NEGATIVE_INFINITY;
    return Math.max(ended, (this.#joined.get(nextHop) ?? Number.NEGATIVE_INFINITY) + LOOK);
  }

  #doubt(nextHop: string, reason: string, now: number): void {
    const before = this.#history.get(nextHop);
    const hold = before === undefined ? FIRST_HOLD : Math.min(before.hold * 2, LONGEST_HOLD);
    this.#lastDoubt = now;
    this.#doubts.set(nextHop, { reason, since: now, until: now + hold });
    this.#history.set(nextHop, { hold, ended: now });
  }

  #lift(window: ClientWindow, members: readonly string[], now: number): void {
    for (const [nextHop, { since, until }] of this.#doubts) {
      const isProven =
        compare(window, nextHop, now, Math.max(since, this.#judgedSince(nextHop)))?.isGood === true;
      if (isProven || now >= until || !members.includes(nextHop)) {
        this.#doubts.delete(nextHop);
        const hold = this.#history.get(nextHop)?.hold ?? FIRST_HOLD;
        this.#history.set(nextHop, { hold: isProven ? FIRST_HOLD / 2 : hold, ended: now });
      }
    }
    for (const [nextHop, { ended }] of this.#history) {
      if (!this.#doubts.has(nextHop) && now - ended >= FORGOTTEN) this.#history.delete(nextHop);
    }
  }
}

interface Comparison {
  readonly isGood: boolean;
  readonly reason: string;
}

/** A member against the others, by the newest connections that tell; undefined when none do. */
function compare(
  window: ClientWindow,
  nextHop: string,
  now: number,
  since = Number.NEGATIVE_INFINITY,
): Comparison | undefined {
  for (const span of window.spans(now, now - since)) {
    const verdict = compareIn(span, nextHop);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function compareIn(span: Span, nextHop: string): Comparison | undefined {
  const followed = span.followed.get(nextHop) ?? 0;
  const established = Math.min(span.established.get(nextHop) ?? 0, followed);
  const others = sum(span.followed) - followed;
  const ofOthers = Math.min(sum(span.established) - (span.established.get(nextHop) ?? 0), others);
  if (others < LEAST_EXPECTED || ofOthers < others * LEAST_OF_OTHERS) return undefined;
  const expected = (followed * ofOthers) / others;
  if (expected < LEAST_EXPECTED) return undefined;
  const isFar = expected - established >= DEVIATIONS * Math.sqrt(expected);
  const isBad = isFar && established <= expected * WORST_PART;
  if (!isBad && established < expected * GOOD_PART) return undefined;
  const reason = `clients established ${established} of ${followed} connections with it, and ${ofOthers} of ${others} with the others`;
  return { isGood: !isBad, reason };
}
