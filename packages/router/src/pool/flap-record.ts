/** How long a member that keeps leaving the pool is held back before it is taken in again. Milliseconds. */
export interface FlapSettings {
  /** After the second exit; each one more doubles it. The first is free. 0: none is held back. */
  readonly flapHold: number;
  /** It grows no further than this. */
  readonly flapHoldMax: number;
  /** So long without an exit takes one exit back. */
  readonly flapDecay: number;
}

/**
 * How often a member left the pool, or lost its full share, of late. The time that it must have been good without a
 * break before it gets more than it has doubles with each exit and shrinks with calm, as DampPeerOscillations (RFC 4271
 * section 8.1.1) does for sessions. Pure.
 */
export class FlapRecord {
  readonly #read: () => FlapSettings;
  #exits = 0;
  /** Since when exits are being forgotten (monotonic ms). */
  #calmSince = 0;
  #heldUntil: number | undefined;
  #hold = 0;
  /** What lowers it further is the same exit, until it has been raised. */
  #hasLeft = false;

  /** @param settings as they are at the moment */
  constructor(settings: () => FlapSettings) {
    this.#read = settings;
  }

  get #settings(): FlapSettings {
    return this.#read();
  }

  /** Exits that are not forgotten. */
  get exits(): number {
    return this.#exits;
  }

  /** Until when it is held back (monotonic ms), if it stays good. `undefined` while it asks for nothing. */
  get heldUntil(): number | undefined {
    return this.#heldUntil;
  }

  /** How long it is held back in all, while `heldUntil` is set (ms). */
  get hold(): number {
    return this.#hold;
  }

  /** It has less than before. */
  left(now: number): void {
    if (this.#hasLeft) {
      return;
    }
    this.#hasLeft = true;
    this.forget(now);
    const { flapHoldMax } = this.#settings;
    // Past the bound more exits change nothing, and would only take longer to forget.
    if (this.#exits === 0 || this.#holdFor(this.#exits) < flapHoldMax) {
      this.#exits++;
    }
    this.#calmSince = now;
  }

  /** It is to have more than it has: says whether it must wait. */
  isHeld(now: number): boolean {
    if (this.#heldUntil === undefined) {
      this.forget(now);
      this.#hold = this.#holdFor(this.#exits);
      this.#heldUntil = now + this.#hold;
    }
    return now < this.#heldUntil;
  }

  /** It is not good any more: what it has waited for begins again, and this was no calm. */
  interrupt(now: number): void {
    if (this.#heldUntil !== undefined) {
      this.#heldUntil = undefined;
      this.#calmSince = now;
    }
  }

  /** It has got what it asked for. */
  raised(): void {
    this.#heldUntil = undefined;
    this.#hasLeft = false;
  }

  /** Takes back the exits that calm makes up for. */
  forget(now: number): void {
    const { flapDecay } = this.#settings;
    const forgotten = Math.min(this.#exits, Math.floor((now - this.#calmSince) / flapDecay));
    this.#exits -= forgotten;
    this.#calmSince += forgotten * flapDecay;
  }

  #holdFor(exits: number): number {
    const { flapHold, flapHoldMax } = this.#settings;
    return exits <= 1 ? 0 : Math.min(flapHoldMax, flapHold * 2 ** (exits - 2));
  }
}
