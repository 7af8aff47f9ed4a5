import type { Clock } from '@bgp-lb/protocol/node';

interface Entry {
  /** By the clock, in milliseconds. */
  readonly at: number;
  readonly fire: () => void;
}

/**
 * Milliseconds that a call may come early when another one is due: more than the work of one wake-up takes, so that what is
 * begun again in each goes on together, and little beside any interval of the configuration.
 */
const SLACK = 5;

/**
 * A clock whose calls share one timer: what is due within the slack is called in the same wake-up of the process. Looks that
 * are made some times a second all day cost most by waking it.
 */
export class SharedTimer implements Clock {
  readonly #clock: Clock;
  readonly #late: (milliseconds: number) => void;
  readonly #entries = new Set<Entry>();
  #cancel: () => void = () => undefined;
  #armedFor = Infinity;

  /** @param late told at each wake-up how late it was, which is little or nothing as a rule */
  constructor(clock: Clock, late: (milliseconds: number) => void) {
    this.#clock = clock;
    this.#late = late;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, fire: () => void): () => void {
    const entry = { at: this.now() + ms, fire };
    this.#entries.add(entry);
    this.#arm(entry.at);
    return () => {
      this.#entries.delete(entry);
      if (this.#entries.size === 0) this.#disarm();
    };
  }

  #arm(at: number): void {
    if (at >= this.#armedFor) return;
    this.#cancel();
    this.#armedFor = at;
    this.#cancel = this.#clock.after(at - this.now(), () => this.#wake());
  }

  #disarm(): void {
    this.#cancel();
    this.#armedFor = Infinity;
  }

  #wake(): void {
    const now = this.now();
    this.#late(now - this.#armedFor);
    this.#armedFor = Infinity;
    const due = [...this.#entries].filter(({ at }) => at <= now + SLACK).sort((a, b) => a.at - b.at);
    try {
      for (const entry of due) {
        // One of those before may have cancelled it.
        if (this.#entries.delete(entry)) entry.fire();
      }
    } finally {
      for (const { at } of this.#entries) this.#arm(at);
    }
  }
}
