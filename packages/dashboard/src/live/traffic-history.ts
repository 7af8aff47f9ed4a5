/** What one member of a VIP got at one moment. */
export interface TrafficSample {
  readonly nextHop: string;
  /** The part of new connections that it gets, 0 to 1. */
  readonly share: number;
  /** Packets since some moment of the past; undefined where they are not counted. */
  readonly packets: number | undefined;
}

/** Series over one axis of time. A member has `null` where it was not there. */
export interface TrafficSeries {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly members: readonly {
    readonly nextHop: string;
    /** Percent of new connections. */
    readonly shares: readonly (number | null)[];
    /** Packets a second since the moment before. */
    readonly rates: readonly (number | null)[];
  }[];
}

interface Moment {
  readonly at: number;
  readonly samples: ReadonlyMap<string, TrafficSample>;
}

/** The last moments of a VIP's traffic. */
export class TrafficHistory {
  readonly #limit: number;
  readonly #moments: Moment[] = [];

  /** @param limit how many moments are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @param at seconds since 1970; a moment that is not later than the last is left out */
  add(at: number, samples: readonly TrafficSample[]): void {
    const last = this.#moments.at(-1);
    if (last !== undefined && at <= last.at) return;
    this.#moments.push({ at, samples: new Map(samples.map((sample) => [sample.nextHop, sample])) });
    if (this.#moments.length > this.#limit) this.#moments.shift();
  }

  /** All members that were there at any moment, in the order of their addresses. */
  series(): TrafficSeries {
    const names = new Set(this.#moments.flatMap(({ samples }) => [...samples.keys()]));
    const members = [...names].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return {
      times: this.#moments.map(({ at }) => at),
      members: members.map((nextHop) => ({
        nextHop,
        shares: this.#moments.map(({ samples }) => percent(samples.get(nextHop)?.share)),
        rates: this.#moments.map((moment, index) => rate(this.#moments[index - 1], moment, nextHop)),
      })),
    };
  }
}

function percent(share: number | undefined): number | null {
  return share === undefined ? null : share * 100;
}

/** A counter that has begun again says nothing of the time before. */
function rate(before: Moment | undefined, now: Moment, nextHop: string): number | null {
  const earlier = before?.samples.get(nextHop)?.packets;
  const later = now.samples.get(nextHop)?.packets;
  if (before === undefined || earlier === undefined || later === undefined || later < earlier) return null;
  return (later - earlier) / (now.at - before.at);
}
