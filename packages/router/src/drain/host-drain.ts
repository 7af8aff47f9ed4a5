import type { Clock } from '@bgp-lb/protocol/node';

/** How this load balancer leaves: `leaving` asks upstreams to prefer others, `withdrawn` has taken everything back. */
export type DrainPhase = 'none' | 'leaving' | 'withdrawn';

export interface DrainState {
  readonly phase: DrainPhase;
  /** Milliseconds in it; `null` for `none`. */
  readonly sinceMs: number | null;
}

/**
 * The drain of this load balancer itself, for its maintenance: first upstreams are asked by GRACEFUL_SHUTDOWN (RFC 8326) to send
 * packets by another, then after a wait in which they do, nothing is announced any more. Packets that still come are forwarded
 * throughout. It lives as long as the process: a daemon that is started serves.
 */
export class HostDrain {
  readonly #clock: Clock;
  readonly #changed: (phase: DrainPhase) => void;
  #phase: DrainPhase = 'none';
  #since = 0;
  #cancel: () => void = () => undefined;

  /** @param changed in the tick of the change */
  constructor(clock: Clock, changed: (phase: DrainPhase) => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  get phase(): DrainPhase {
    return this.#phase;
  }

  status(): DrainState {
    const sinceMs = this.#phase === 'none' ? null : Math.round(this.#clock.now() - this.#since);
    return { phase: this.#phase, sinceMs };
  }

  /** Begins, or goes on: a drain that is under way is not begun again. @param wait milliseconds until all is withdrawn */
  begin(wait: number): void {
    if (this.#phase !== 'none') return;
    this.#enter('leaving');
    this.#cancel = this.#clock.after(wait, () => this.#enter('withdrawn'));
  }

  /** Serves again. */
  end(): void {
    this.#cancel();
    if (this.#phase !== 'none') this.#enter('none');
  }

  /** Nothing changes any more. */
  close(): void {
    this.#cancel();
  }

  #enter(phase: DrainPhase): void {
    this.#phase = phase;
    this.#since = this.#clock.now();
    this.#changed(phase);
  }
}
