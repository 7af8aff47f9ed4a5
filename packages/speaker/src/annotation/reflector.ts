/** A Node as far as it matters here. */
export interface NodeFacts {
  /** Text of the annotation; `undefined` without one. */
  readonly annotation: string | undefined;
  readonly resourceVersion: string;
}

/** What a list or a watch of the one Node has brought. */
export type ReflectorEvent =
  /** `node` is `undefined` when there is none of that name. */
  | { readonly type: 'listed'; readonly node: NodeFacts | undefined; readonly resourceVersion: string }
  | { readonly type: 'changed'; readonly node: NodeFacts }
  | { readonly type: 'deleted' | 'bookmark'; readonly resourceVersion: string }
  /** The API server ended the watch in order. */
  | { readonly type: 'ended'; readonly lastedMs: number }
  /** `status`: the HTTP status, of the answer or of an ERROR event; `undefined` when there was no answer. */
  | {
      readonly type: 'failed';
      readonly status: number | undefined;
      readonly reason: string;
      readonly lastedMs: number;
    };

export interface ReflectorState {
  /** What is to be done next, or goes on. */
  readonly next: 'list' | 'watch';
  /** Where a watch goes on from. */
  readonly resourceVersion: string;
  /** The last answer about the Node; kept whatever fails, and when the Node is deleted. */
  readonly node: NodeFacts | undefined;
  readonly isThere: boolean;
  readonly listedAt: number;
  /** The last word of the API server, in monotonic milliseconds. */
  readonly succeededAt: number | undefined;
  /** In a row. */
  readonly failures: number;
  readonly error: string | undefined;
}

/** Milliseconds after which all is listed again, should a watch have lost something. */
export const RESYNC = 600_000;
/** A watch that ends before is one that failed: an API server, or something before it, that ends each at once. Milliseconds. */
const SHORTEST_WATCH = 1_000;
const FIRST_DELAY = 500;
/** How long an annotation may go unseen after an outage. Milliseconds. */
const LONGEST_DELAY = 15_000;

/** HTTP: the resourceVersion is older than what the API server remembers. */
const GONE = 410;

export const initialReflector: ReflectorState = {
  next: 'list',
  resourceVersion: '',
  node: undefined,
  isThere: false,
  listedAt: 0,
  succeededAt: undefined,
  failures: 0,
  error: undefined,
};

/** The next state; pure. List, then watch from what was listed, again and again (Kubernetes API concepts, "Efficient detection of changes"). */
export function reflect(state: ReflectorState, event: ReflectorEvent, now: number): ReflectorState {
  switch (event.type) {
    case 'listed': {
      const { node, resourceVersion } = event;
      const isThere = node !== undefined;
      return {
        ...state,
        next: 'watch',
        resourceVersion,
        ...{ node: node ?? state.node, isThere, listedAt: now, succeededAt: now },
        // Failures are forgotten when a watch works: lists that succeed before watches that fail are to slow down as well.
        error: undefined,
      };
    }
    case 'changed':
      return { ...proceed(state, event.node.resourceVersion, now), node: event.node, isThere: true };
    case 'deleted':
      return { ...proceed(state, event.resourceVersion, now), isThere: false };
    case 'bookmark':
      return proceed(state, event.resourceVersion, now);
    case 'ended': {
      if (event.lastedMs < SHORTEST_WATCH)
        return fail(state, 'the API server ended the watch at once', 'list');
      const next = now - state.listedAt >= RESYNC ? 'list' : 'watch';
      return { ...state, next, failures: 0, error: undefined, succeededAt: now };
    }
    case 'failed': {
      // Any refusal makes the version doubtful; a connection that broke does not.
      if (event.status !== undefined) return fail(state, event.reason, 'list');
      const hasWorked = state.next === 'watch' && event.lastedMs >= SHORTEST_WATCH;
      return fail(hasWorked ? { ...state, failures: 0 } : state, event.reason, state.next);
    }
  }
}

function proceed(state: ReflectorState, resourceVersion: string, now: number): ReflectorState {
  return { ...state, resourceVersion, failures: 0, error: undefined, succeededAt: now };
}

function fail(state: ReflectorState, error: string, next: 'list' | 'watch'): ReflectorState {
  return { ...state, next, error, failures: state.failures + 1 };
}

/**
 * Milliseconds before what is next: none while all is well, else doubled with each failure up to 15 s, and of that between a half
 * and the whole, so that masters do not come all at once to an API server that is back.
 * @param random at least 0, less than 1
 */
export function retryDelay({ failures, error }: ReflectorState, random: number): number {
  if (error === undefined) return 0;
  const whole = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.min(failures - 1, 10));
  return whole * (0.5 + random / 2);
}

/** What one object of a watch's stream says (Kubernetes API concepts, "Efficient detection of changes"); `undefined` for what is unknown. */
export function watchEvent(kind: string, node: NodeFacts, status: unknown): ReflectorEvent | undefined {
  const { resourceVersion } = node;
  switch (kind) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'changed', node };
    case 'DELETED':
      return { type: 'deleted', resourceVersion };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion };
    case 'ERROR': {
      const code = typeof status === 'number' ? status : 500;
      const reason =
        code === GONE ? 'the watch is too old (410)' : `the API server ended the watch with ${code}`;
      return { type: 'failed', status: code, reason, lastedMs: 0 };
    }
    default:
      return undefined;
  }
}
