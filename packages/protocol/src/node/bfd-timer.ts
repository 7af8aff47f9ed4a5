import type { Clock } from './clock.ts';

/** A session as its timer sees it. */
export interface TimedSession {
  /** Monotonic ms; Infinity when only an event can give it something to do. */
  readonly wakeAt: number;
  /** How many packets it has tried to send. */
  readonly attempts: number;
  wake(now: number): void;
  /** Sends now if it may, because others do. */
  sendAlong(): void;
}

/**
 * Sessions that send along with those whose packet is due: sending is some 20 µs each, and the thread looks at nothing
 * else meanwhile.
 */
const mostTogether = 32;

/** Timers count whole milliseconds and may fire a part of one early: what is due so soon is looked at now. */
const slack = 1;

/**
 * One timer for all sessions. To wake up costs a multiple of sending a packet, so when one session's packet is due, all
 * sessions send whose jitter allows it (RFC 5880 section 6.8.7: each interval is shortened by up to a quarter, and who
 * shortens it is ours to choose). Sessions with the same interval soon send together, and stay so by the same random
 * number, new each time: intervals of ours stay as random for other hosts as they were.
 */
export class BfdTimer {
  readonly #clock: Clock;
  readonly #draw: () => number;
  readonly #sessions = new Set<TimedSession>();
  #cancel: () => void = () => undefined;
  #armedFor = Infinity;
  /** The number of the wake-up that is going on. */
  #shared: number | undefined;

  /** @param draw in [0, 1) */
  constructor(clock: Clock, draw: () => number) {
    this.#clock = clock;
    this.#draw = draw;
  }

  /** For the jitter of a packet that leaves now. */
  random(): number {
    return this.#shared ?? this.#draw();
  }

  add(session: TimedSession): void {
    this.#sessions.add(session);
    this.expectAt(session.wakeAt);
  }

  delete(session: TimedSession): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    this.#cancel();
    this.#armedFor = Infinity;
  }

  /** A deadline that moved away leaves the timer to fire early, which costs less than a new one for each packet. */
  expectAt(at: number): void {
    // At the end of a wake-up all deadlines are looked at.
    if (this.#shared !== undefined || at >= this.#armedFor) return;
    this.#cancel();
    this.#armedFor = at;
    this.#cancel = this.#clock.after(at - this.#clock.now(), () => this.#wake());
  }

  #wake(): void {
    this.#armedFor = Infinity;
    this.#shared = this.#draw();
    try {
      this.#run(this.#clock.now());
    } finally {
      this.#shared = undefined;
    }
    let next = Infinity;
    for (const { wakeAt } of this.#sessions) next = Math.min(next, wakeAt);
    this.expectAt(next);
  }

  #run(now: number): void {
    let sent = 0;
    let parties = 1;
    const counted = (session: TimedSession, act: () => void): void => {
      const before = session.attempts;
      act();
      sent += session.attempts - before;
      if (sent >= mostTogether * parties) {
        // What met by chance parts again: the next ones have a random number of their own.
        parties += 1;
        this.#shared = this.#draw();
      }
    };
    for (const session of this.#sessions) {
      if (session.wakeAt <= now) counted(session, () => session.wake(now));
    }
    for (const session of this.#sessions) {
      const isDueSoon = session.wakeAt <= now + slack;
      if ((isDueSoon || sent > 0) && sent < mostTogether) counted(session, () => session.sendAlong());
    }
  }
}
