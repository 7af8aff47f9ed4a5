/** Takes another value only when it has stayed the same for a while: two hosts that see one thing at two moments are not to differ for it. */
export class SettledValue<T> {
  readonly #hold: (from: T, to: T) => number;
  #value: T;
  #next: T;
  #nextSince = 0;

  /** @param hold how long another one has to stay, by what it is (ms) */
  constructor(initial: T, hold: (from: T, to: T) => number) {
    this.#value = initial;
    this.#next = initial;
    this.#hold = hold;
  }

  /** The value that counts. @param seen as it is at the moment. @param now monotonic ms */
  take(seen: T, now: number): T {
    if (seen !== this.#next) {
      this.#next = seen;
      this.#nextSince = now;
    }
    if (now - this.#nextSince >= this.#hold(this.#value, seen)) this.#value = seen;
    return this.#value;
  }

  get value(): T {
    return this.#value;
  }
}
