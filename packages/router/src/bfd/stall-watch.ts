import type { Clock } from '@bgp-lb/protocol/node';

/** How often it looks at the clock (ms). */
const PERIOD = 25;
/** How long a stall explains what others say of us (ms). */
const MEMORY = 2000;

/** Knows how late this process was: whoever hung for a second must not take the others' complaints for their death. */
export class StallWatch {
  readonly #clock: Clock;
  readonly #looked: (lateness: number) => void;
  #dueAt = Number.POSITIVE_INFINITY;
  #stalls: { readonly at: number; readonly lateness: number }[] = [];
  #cancel: () => void = () => undefined;

  /** @param looked told at each look how late it was (ms), which is little or nothing as a rule */
  constructor(clock: Clock, looked: (lateness: number) => void = () => undefined) {
    this.#clock = clock;
    this.#looked = looked;
  }

  start(): void {
    this.#dueAt = this.#clock.now() + PERIOD;
    this.#cancel = this.#clock.after(PERIOD, () => {
      this.#looked(this.#clock.now() - this.#dueAt);
      this.#note();
      this.start();
    });
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

  #note(): void {
    const now = this.#clock.now();
    const lateness = now - this.#dueAt;
    this.#stalls = this.#stalls.filter(({ at }) => now - at <= MEMORY);
    if (lateness > PERIOD) {
      this.#stalls = [...this.#stalls.slice(-MEMORY / PERIOD), { at: now, lateness }];
    }
  }
}
