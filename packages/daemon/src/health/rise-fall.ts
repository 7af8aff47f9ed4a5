/** What a checked thing counts as. */
export type RiseFallState = 'up' | 'down';

/** `rise` good reports in a row bring it up, `fall` bad ones down. */
export interface RiseFallOptions {
  readonly rise: number;
  readonly fall: number;
  readonly initial: RiseFallState;
}

/** Damps single reports: the state follows only what was reported several times in a row. Pure. */
export class RiseFall {
  readonly #rise: number;
  readonly #fall: number;
  #state: RiseFallState;
  #against = 0;

  constructor(options: RiseFallOptions) {
    for (const name of ['rise', 'fall'] as const) {
      const value = options[name];
      if (!Number.isInteger(value) || value < 1) {
        throw new RangeError(`${name} is ${value}; allowed: a whole number from 1`);
      }
    }
    this.#rise = options.rise;
    this.#fall = options.fall;
    this.#state = options.initial;
  }

  get state(): RiseFallState {
    return this.#state;
  }

  /** How many reports in a row contradicted the state: 0 when the last one agreed. */
  get contradicting(): number {
    return this.#against;
  }

  /** Takes one report; returns the new state when it changed. */
  report(good: boolean): RiseFallState | undefined {
    const reported: RiseFallState = good ? 'up' : 'down';
    if (reported === this.#state) {
      this.#against = 0;
      return undefined;
    }
    this.#against += 1;
    if (this.#against < (good ? this.#rise : this.#fall)) return undefined;
    return this.force(reported);
  }

  /** Sets the state at once (a stop that announced itself, an adopted member); returns it when it changed. */
  force(state: RiseFallState): RiseFallState | undefined {
    this.#against = 0;
    if (state === this.#state) return undefined;
    this.#state = state;
    return state;
  }
}
