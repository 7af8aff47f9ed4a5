import type { ApiErrorKind } from './api-error.ts';

/** What a list or a watch has brought. */
export type ReflectorEvent =
  | { readonly type: 'listed'; readonly resourceVersion: string }
  /** A list beside the watch that brought nothing new. */
  | { readonly type: 'confirmed' }
  /** An object or a bookmark of the watch. */
  | { readonly type: 'heard'; readonly resourceVersion: string }
  /** The watch has been open for a while, whether or not there is anything to tell. */
  | { readonly type: 'watching' }
  /** The API server ended the watch in order. */
  | { readonly type: 'ended'; readonly lastedMs: number }
  /** A list beside the watch failed. */
  | { readonly type: 'unconfirmed'; readonly reason: string }
  | {
      readonly type: 'failed';
      readonly kind: ApiErrorKind;
      readonly reason: string;
      readonly lastedMs: number;
    };

export interface ReflectorState {
  /** What is to be done next, or goes on. */
  readonly next: 'list' | 'watch';
  /** Where a watch goes on from. */
  readonly resourceVersion: string;
  /** The last answer of the API server that was of use, in monotonic milliseconds. */
  readonly succeededAt: number | undefined;
  /** The last list. */
  readonly listedAt: number | undefined;
  /** In a row. */
  readonly failures: number;
  /** Why the last list or watch ended, if not in order. */
  readonly error: string | undefined;
  /** Why the last list beside the watch failed. */
  readonly pollError: string | undefined;
}

/** A watch that ends before is one that failed: an API server, or something before it, that ends each at once. Milliseconds. */
export const SHORTEST_WATCH = 1_000;
const SHORTEST_DELAY = 1_000;
const LONGEST_DELAY = 30_000;

export const initialState: ReflectorState = {
  next: 'list',
  resourceVersion: '',
  succeededAt: undefined,
  listedAt: undefined,
  failures: 0,
  error: undefined,
  pollError: undefined,
};

/** The next state; pure. List, then watch from what was listed, again and again (Kubernetes API concepts, "Efficient detection of changes"). */
export function nextState(state: ReflectorState, event: ReflectorEvent, now: number): ReflectorState {
  switch (event.type) {
    case 'listed':
      // Failures are forgotten when a watch works: lists that succeed before watches that fail are to slow down as well.
      return {
        ...state,
        ...{ next: 'watch', resourceVersion: event.resourceVersion, succeededAt: now, listedAt: now },
        ...{ error: state.next === 'list' ? undefined : state.error, pollError: undefined },
      };
    case 'confirmed':
      return { ...state, succeededAt: now, listedAt: now, pollError: undefined };
    case 'unconfirmed':
      return { ...state, pollError: event.reason };
    case 'heard':
      return { ...well(state, now), resourceVersion: event.resourceVersion };
    case 'watching':
      return well(state, now);
    case 'ended':
      if (event.lastedMs < SHORTEST_WATCH)
        return fail(state, 'the API server ended the watch at once', 'list');
      return well(state, now);
    case 'failed': {
      // Any refusal (410 among them) makes the version doubtful; a connection that broke does not.
      if (event.kind !== 'unreachable') return fail(state, event.reason, 'list');
      const hasWorked = state.next === 'watch' && event.lastedMs >= SHORTEST_WATCH;
      return fail(hasWorked ? { ...state, failures: 0 } : state, event.reason, state.next);
    }
  }
}

function well(state: ReflectorState, now: number): ReflectorState {
  return { ...state, failures: 0, error: undefined, succeededAt: now };
}

function fail(state: ReflectorState, error: string, next: 'list' | 'watch'): ReflectorState {
  return { ...state, next, error, failures: state.failures + 1 };
}

/**
 * Milliseconds before what is next: none while all is well, else doubled with each failure from 2 s up to 30 s, and of that
 * between a half and the whole, so that clients do not come all at once to an API server that is back.
 * @param random at least 0, less than 1
 */
export function retryDelay({ failures, error }: ReflectorState, random: number): number {
  if (error === undefined) return 0;
  const whole = Math.min(LONGEST_DELAY, SHORTEST_DELAY * 2 ** Math.min(failures, 10));
  return whole * (0.5 + random / 2);
}

/** Seconds after which the API server is to end a watch, so that watches of many clients do not end together. @param random at least 0, less than 1 */
export function watchSeconds(random: number): number {
  return 300 + Math.floor(random * 301);
}
