import type { Clock } from '@bgp-lb/protocol/node';

/** Looks at the clock within the shortest Detection Time: a stall of two thirds of it is always seen as one of half of it or more. */
const LOOKS = 6;
/** Between two looks at most, also where there is no BFD: who watches the event loop goes by them (ms). */
const LONGEST_PERIOD = 200;
/** How long a stall explains what others say of us (ms). */
const MEMORY = 2000;

/**
 * Knows how late this process was: a process that hung for a second must not take its neighbors' complaints for their death. Each look wakes the
 * process, so there are no more than the Detection Times of BFD ask for.
 */
export class StallWatch {
  readonly #clock: Clock;
  readonly #looked: (lateness: number) => void;
  /** The shortest Detection Time that there is, or was last. */
  #detectionTime = Number.POSITIVE_INFINITY;
  #period = LONGEST_PERIOD;
  #dueAt = Number.POSITIVE_INFINITY;
  #stalls: { readonly at: number; readonly lateness: number }[] = [];
  #cancel: () => void = () => undefined;
  /** The lateness of all looks together. */
  #lost = 0;

  /** @param looked told at each look how late it was (ms), which is little or nothing as a rule */
  constructor(clock: Clock, looked: (lateness: number) => void = () => undefined) {
    this.#clock = clock;
    this.#looked = looked;
  }

  start(): void {
    this.#dueAt = this.#clock.now() + this.#period;
    this.#cancel = this.#clock.after(this.#period, () => {
      this.#looked(this.#clock.now() - this.#dueAt);
      this.#lost += this.#pending;
      this.#note();
      this.start();
    });
  }

  /** @param detectionTime the shortest one within which others miss us (ms); `undefined`: there is no session of BFD */
  watch(detectionTime: number | undefined): void {
    // What is known by now outlives the session that it may explain the end of.
    this.#note();
    this.#detectionTime = detectionTime ?? this.#detectionTime;
    const period = Math.min(LONGEST_PERIOD, (detectionTime ?? Number.POSITIVE_INFINITY) / LOOKS);
    if (period === this.#period) return;
    this.#period = period;
    if (this.#dueAt !== Number.POSITIVE_INFINITY) {
      this.#lost += this.#pending;
      this.#cancel();
      this.start();
    }
  }

  stop(): void {
    this.#cancel();
    this.#dueAt = Number.POSITIVE_INFINITY;
  }

  /** The most in ms by which this process was late within the last 2 s. */
  get lateness(): number {
    this.#note();
    return Math.max(0, ...this.#stalls.map(({ lateness }) => lateness));
  }

  /**
   * The time in ms by which this process was late in all, since it began: what it grows by within a while is how much of that while
   * this process could not use.
   */
  get lost(): number {
    return this.#lost + this.#pending;
  }

  get #pending(): number {
    return Math.max(0, this.#clock.now() - this.#dueAt);
  }

  /** A neighbor may have taken us for dead because we were so late. */
  get isSuspicious(): boolean {
    return this.lateness >= this.#detectionTime / 2;
  }

  #note(): void {
    const now = this.#clock.now();
    const lateness = now - this.#dueAt;
    this.#stalls = this.#stalls.filter(({ at }) => now - at <= MEMORY);
    if (lateness > this.#period) {
      this.#stalls = [...this.#stalls.slice(-MEMORY / this.#period), { at: now, lateness }];
    }
  }
}
