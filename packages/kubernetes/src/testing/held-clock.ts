import type { Clock } from '../clock.ts';

/** A clock by which pauses between attempts are over at once; limits and polls come when the test says so. */
export class HeldClock implements Clock {
  readonly #held = new Set<{ readonly ms: number; readonly fire: () => void }>();
  /** Pauses that were over at once, in milliseconds. */
  readonly pauses: number[] = [];

  now(): number {
    return performance.now();
  }

  after(ms: number, fire: () => void): () => void {
    const isPause = ms < 10_000 || (ms <= 30_000 && !Number.isInteger(ms));
    if (isPause) {
      this.pauses.push(ms);
      const timer = setTimeout(fire, 0);
      return () => clearTimeout(timer);
    }
    const one = { ms, fire };
    this.#held.add(one);
    return () => this.#held.delete(one);
  }

  /** Limits that run, in milliseconds. */
  get held(): readonly number[] {
    return [...this.#held].map(({ ms }) => ms);
  }

  /** Lets what was set for so many milliseconds come. */
  fire(ms: number): void {
    for (const one of [...this.#held].filter((held) => held.ms === ms)) {
      this.#held.delete(one);
      one.fire();
    }
  }
}
