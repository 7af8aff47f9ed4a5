import type { Clock } from '../clock.ts';

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

/** A clock that stands still until a test moves it. Sockets and immediates get their turn after each timer. */
export class ManualClock implements Clock {
  #now = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, fire: () => void): () => void {
    const timer: Timer = { at: this.#now + Math.max(0, ms), fire };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves time forward and fires what is due, in order. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms;
    await settle();
    for (let next = this.#next(); next !== undefined && next.at <= target; next = this.#next()) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.fire();
      await settle();
    }
    this.#now = target;
  }

  /**
   * Our own process hangs for a while and wakes up: everything that is due fires at once, before any socket is read.
   * What arrives before the next turn of the event loop has waited in the socket.
   */
  stall(ms: number): void {
    this.#now += ms;
    for (let next = this.#next(); next !== undefined && next.at <= this.#now; next = this.#next()) {
      this.#timers.delete(next);
      next.fire();
    }
  }

  #next(): Timer | undefined {
    let best: Timer | undefined;
    for (const timer of this.#timers) if (best === undefined || timer.at < best.at) best = timer;
    return best;
  }
}

/** Lets streams, microtasks and immediates come to rest. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
