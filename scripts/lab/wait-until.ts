/** Waiting for a state that no event announces, with a deadline and a useful message. */
import { setTimeout as sleep } from 'node:timers/promises';

/** What is waited for, and for how long. */
export interface WaitOptions {
  /** Words for the error: "m2 in the pool". */
  readonly what: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** Added to the error, called only when the time is over: a log's last lines, the last status. */
  readonly detail?: () => string | Promise<string>;
}

/** The state did not come in time. */
class WaitTimeoutError extends Error {
  constructor(what: string, timeoutMs: number, detail: string) {
    super(`not within ${timeoutMs} ms: ${what}${detail === '' ? '' : `\n${detail}`}`);
    this.name = 'WaitTimeoutError';
  }
}

/** Calls `look` until it gives something else than undefined or false, and resolves with that. */
export async function waitUntil<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  options: WaitOptions,
): Promise<T> {
  const timeoutMs = options.timeoutMs ?? 10_000;
  const end = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() >= end) {
      throw new WaitTimeoutError(options.what, timeoutMs, (await options.detail?.()) ?? '');
    }
    await sleep(options.everyMs ?? 20);
  }
}
