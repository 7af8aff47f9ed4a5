import type { Clock } from '@bgp-lb/kubernetes';
import { systemClock } from '../run/system-clock.ts';

/** The machine's clock, of which time can pass at once. */
export class SteppedClock implements Clock {
  readonly #timers = new Set<{ readonly ms: number; readonly at: number; readonly come: () => void }>();
  #passed = 0;

  now(): number {
    return systemClock.now() + this.#passed;
  }

  wall(): number {
    return Date.now() + this.#passed;
  }

  after(ms: number, fire: () => void): () => void {
    const come = (): void => {
      cancel();
      fire();
    };
    const stop = systemClock.after(ms, come);
    const one = { ms, at: this.now() + ms, come };
    this.#timers.add(one);
    const cancel = (): void => {
      stop();
      this.#timers.delete(one);
    };
    return cancel;
  }

  /** Whether something waits that was set for so many milliseconds. */
  waits(ms: number): boolean {
    return [...this.#timers].some((one) => one.ms === ms);
  }

  /** Lets so many milliseconds pass; what was set for them comes in its order. */
  pass(ms: number): void {
    this.#passed += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.now());
    for (const one of due.toSorted((a, b) => a.at - b.at)) if (this.#timers.has(one)) one.come();
  }
}
