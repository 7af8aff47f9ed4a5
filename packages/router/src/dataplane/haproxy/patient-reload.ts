import type { Clock } from '@bgp-lb/protocol/node';

/** So long everything else waits for a reload (ms). */
const PATIENCE = 500;

export interface PatientReloadOptions {
  readonly clock: Clock;
  /** Rejects when HAProxy does not take it. */
  readonly reload: (identity: string) => Promise<void>;
  readonly onEnd: (error: unknown) => void;
  /** One that was waited for no more has ended. */
  readonly onLateEnd: () => void;
}

/**
 * Reloads that everything else waits for only a moment. A new worker may take seconds to begin, and a member that dies or is drained
 * meanwhile is to leave at once.
 */
export class PatientReload {
  readonly #options: PatientReloadOptions;
  #isRunning = false;

  constructor(options: PatientReloadOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** @returns true when it was done; false when it was refused, or goes on */
  async run(identity: string): Promise<boolean> {
    if (this.#isRunning) return false;
    const { clock, reload, onEnd, onLateEnd } = this.#options;
    this.#isRunning = true;
    let isLate = false;
    const ended = reload(identity)
      .then(
        () => undefined,
        (error: unknown) => error,
      )
      .then((error) => {
        this.#isRunning = false;
        onEnd(error);
        if (isLate) onLateEnd();
        return error === undefined;
      });
    return new Promise((resolve) => {
      const cancel = clock.after(PATIENCE, () => {
        isLate = true;
        resolve(false);
      });
      void ended.then((isDone) => {
        cancel();
        resolve(isDone);
      });
    });
  }
}
