import type { Clock } from '@bgp-lb/protocol/node';

/** Timers of which each name has one: to arm it again cancels it. */
export class NamedTimers<Name extends string> {
  readonly #clock: Clock;
  readonly #cancels = new Map<Name, () => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  has(name: Name): boolean {
    return this.#cancels.has(name);
  }

  /** Runs once, so many ms from now. */
  arm(name: Name, ms: number, run: () => void): void {
    this.#cancels.get(name)?.();
    const cancel = this.#clock.after(ms, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }

  cancelAll(): void {
    for (const cancel of this.#cancels.values()) {
      cancel();
    }
    this.#cancels.clear();
  }
}
