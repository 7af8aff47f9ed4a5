import type { Clock } from '@bgp-lb/protocol/node';

/** When the kernel is looked at next: soon after a change, and not more often than the changes ask for. */
export class ReadBackTimer {
  readonly #clock: Clock;
  readonly #readBack: () => void;
  #last: number = Number.NEGATIVE_INFINITY;
  #due = 0;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, readBack: () => void) {
    this.#clock = clock;
    this.#readBack = readBack;
  }

  /** A look is due, `gap` ms after the last one at the earliest. One that is due sooner stays. */
  schedule(gap: number): void {
    const due = this.#last + gap;
    if (this.#cancel !== undefined && due >= this.#due) return;
    this.#due = due;
    this.#cancel?.();
    this.#cancel = this.#clock.after(Math.max(0, due - this.#clock.now()), () => {
      this.#cancel = undefined;
      this.#readBack();
    });
  }

  /** There is a look now. */
  looked(): void {
    this.#last = this.#clock.now();
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
