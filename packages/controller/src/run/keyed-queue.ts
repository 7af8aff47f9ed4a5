import type { Clock } from '@bgp-lb/kubernetes';

/** Milliseconds after the first failure of a key; doubled with each further one. As client-go's default rate limiter. */
const FIRST_DELAY = 5;
const LONGEST_DELAY = 1_000_000;

export interface KeyedQueueOptions {
  readonly clock: Clock;
  /** Keys that are worked on at a time. */
  readonly workers: number;
  /** Works on one key. @returns milliseconds after which to come back to it, although nothing asks for it */
  readonly work: (key: string) => Promise<number | undefined>;
  /** A key has failed and comes again. */
  readonly failed: (key: string, error: unknown) => void;
}

/**
 * Work by keys: a key that is asked for several times is worked on once, never twice at a time, and again when it was asked for
 * meanwhile. One that fails comes again after a while, which grows.
 */
export class KeyedQueue {
  readonly #options: KeyedQueueOptions;
  /** In order of their coming. */
  readonly #waiting = new Set<string>();
  readonly #inFlight = new Set<string>();
  /** Asked for while they were worked on. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #timers = new Map<string, { readonly at: number; readonly cancel: () => void }>();
  #isOpen = false;
  #idle: () => void = () => undefined;

  constructor(options: KeyedQueueOptions) {
    this.#options = options;
  }

  /** Keys that wait. */
  get depth(): number {
    return this.#waiting.size;
  }

  add(key: string): void {
    if (this.#inFlight.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#pump();
  }

  /** Comes after so many milliseconds, or earlier if asked for. */
  addAfter(key: string, ms: number): void {
    const at = this.#options.clock.now() + ms;
    const timer = this.#timers.get(key);
    if (timer !== undefined && timer.at <= at) return;
    timer?.cancel();
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, { at, cancel });
  }

  /** Begins to work. */
  open(): void {
    this.#isOpen = true;
    this.#pump();
  }

  /** Works on nothing more, and resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isOpen = false;
    for (const { cancel } of this.#timers.values()) cancel();
    this.#timers.clear();
    if (this.#inFlight.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  #pump(): void {
    for (const key of this.#waiting) {
      if (!this.#isOpen || this.#inFlight.size >= this.#options.workers) return;
      this.#waiting.delete(key);
      this.#inFlight.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      const next = await this.#options.work(key);
      this.#failures.delete(key);
      // A time of before is not meant any more.
      this.#timers.get(key)?.cancel();
      this.#timers.delete(key);
      if (next !== undefined && this.#isOpen) this.addAfter(key, next);
    } catch (error) {
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      this.#options.failed(key, error);
      if (this.#isOpen)
        this.addAfter(key, Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures, 30)));
    }
    this.#inFlight.delete(key);
    if (this.#again.delete(key)) this.#waiting.add(key);
    if (this.#inFlight.size === 0) this.#idle();
    this.#pump();
  }
}
