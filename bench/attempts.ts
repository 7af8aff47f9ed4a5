/** What was tried and failed: a benchmark goes on with what is left, and says so. */
/** A daemon that could not do what was asked of it. */
export interface Failure {
  readonly daemon: string;
  /** Words for people: the size of the table, the hold time. */
  readonly what: string;
  readonly reason: string;
  /** Seconds after which there was no longer wait: a result as well, and no fault of the run. */
  readonly moreThan?: number;
}

/** The daemon was not done within the time that a benchmark has for it. */
export class TooSlow extends Error {
  readonly seconds: number;

  constructor(seconds: number) {
    super(`not done within ${seconds} s`);
    this.name = 'TooSlow';
    this.seconds = seconds;
  }
}

/** Measurements one after another, of which each may fail. */
export class Attempts {
  readonly failures: Failure[] = [];
  readonly #progress: (line: string) => void;

  constructor(progress: (line: string) => void) {
    this.#progress = progress;
  }

  /** Resolves with what `measure` found, or with undefined when it failed, which is remembered. */
  async attempt<T>(daemon: string, what: string, measure: () => Promise<T>): Promise<T | undefined> {
    try {
      return await measure();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#progress(`${what}: ${daemon}: ${reason}`);
      // The scene that follows, status and logs, is for the reader of the run.
      const [first = ''] = reason.split('\n');
      const bound = error instanceof TooSlow ? { moreThan: error.seconds } : {};
      this.failures.push({ daemon, what, reason: first, ...bound });
      return undefined;
    }
  }

  /** True when the daemon was too slow for this task once. */
  wasTooSlow(daemon: string, what: string): boolean {
    return this.failures.some(
      (one) => one.daemon === daemon && one.what === what && one.moreThan !== undefined,
    );
  }
}

/** Those that are faults of the run, one paragraph each. */
export function failureText(failures: readonly Failure[]): string[] {
  return failures
    .filter(({ moreThan }) => moreThan === undefined)
    .map(({ daemon, what, reason }) => `Failed: ${daemon}, ${what}: ${reason}`);
}
