/** How long a peer that keeps failing is kept in Idle. In seconds. */
export interface OscillationOptions {
  /** Idle time after the second failure; the first is free. Default 1. */
  readonly base?: number;
  /** The longest idle time. Default 30. */
  readonly maximum?: number;
  /** A calm of this length takes back one failure. Default 60. */
  readonly decay?: number;
}

/**
 * DampPeerOscillations (RFC 4271 section 8.1.1): the idle time doubles with each failure up to a bound, and shrinks as
 * the peer stays calm. The first failure costs nothing, so that one restart of a peer is found again at once.
 */
export class Oscillation {
  readonly #base: number;
  readonly #maximum: number;
  readonly #decay: number;
  #failures = 0;
  #calmSince = 0;

  constructor({ base = 1, maximum = 30, decay = 60 }: OscillationOptions = {}) {
    this.#base = base;
    this.#maximum = maximum;
    this.#decay = decay;
  }

  /**
   * Counts one failure.
   * @param now Monotonic milliseconds.
   * @returns The seconds to stay in Idle, 0 for none.
   */
  fail(now: number): number {
    const calm = Math.max(0, now - this.#calmSince) / 1000;
    const forgotten = Math.floor(calm / this.#decay);
    this.#failures = Math.max(0, this.#failures - forgotten) + 1;
    const seconds = this.#secondsFor(this.#failures);
    // Past the bound more failures change nothing, and would only take longer to forget.
    if (this.#secondsFor(this.#failures - 1) >= this.#maximum) this.#failures -= 1;
    this.#calmSince = now + seconds * 1000;
    return seconds;
  }

  /** The operator has spoken: start afresh. */
  reset(): void {
    this.#failures = 0;
  }

  #secondsFor(failures: number): number {
    return failures <= 1 ? 0 : Math.min(this.#maximum, this.#base * 2 ** (failures - 2));
  }
}
