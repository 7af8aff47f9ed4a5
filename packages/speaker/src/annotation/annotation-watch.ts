import type { Clock } from '@bgp-lb/protocol/node';
import { DRAIN_ANNOTATION, type DrainWish, drainWishOf } from './drain-wish.ts';
import type { NodeSource } from './node-source.ts';
import {
  initialReflector,
  type ReflectorEvent,
  type ReflectorState,
  reflect,
  retryDelay,
} from './reflector.ts';
import type { WishMemory } from './wish-memory.ts';

/**
 * Seconds after which the API server is to end a watch. Less than the 30 s of silence after which client-node 2.0.1 takes a
 * connection for dead, as bookmarks come once in a minute.
 */
const WATCH_SECONDS = 25;
/** Milliseconds that a request may take beyond that: a connection that is half open is given up then. */
const LIMIT_BEYOND = 5_000;
const LIST_LIMIT = 10_000;
/** Characters of an error that are shown: an answer of the API server may be long. */
const LONGEST_ERROR = 300;

export interface AnnotationWatchOptions {
  /** Name of the Node. */
  readonly node: string;
  /** Reads the credentials as they are now. */
  readonly open: () => Promise<NodeSource>;
  readonly memory: WishMemory;
  readonly clock: Clock;
  /** What has to be told once: an error that is another one than the last, and its end. */
  readonly tell: (message: string, isBad: boolean) => void;
  /** The Node asks for something else now. */
  readonly changed: () => void;
}

/** The annotation as status shows it. */
export interface AnnotationStatus {
  readonly node: string;
  /** The last known wish; it holds while the API is out of reach. */
  readonly wish: DrainWish;
  /** Milliseconds since the API server's last word; `null` before the first. */
  readonly succeededMs: number | null;
  readonly error: string | null;
}

/** Follows the drain annotation of one Node: the I/O around the reflector. */
export class AnnotationWatch {
  readonly #options: AnnotationWatchOptions;
  #state: ReflectorState = initialReflector;
  #told: string | undefined;
  #isClosed = false;
  /** Ends the request or the pause that goes on. */
  #interrupt: () => void = () => undefined;

  constructor(options: AnnotationWatchOptions) {
    this.#options = options;
  }

  /** The last known wish. */
  get wish(): DrainWish {
    return this.#options.memory.wish;
  }

  status(): AnnotationStatus {
    const { succeededAt } = this.#state;
    const { node, clock } = this.#options;
    return {
      node,
      wish: this.wish,
      succeededMs: succeededAt === undefined ? null : Math.round(clock.now() - succeededAt),
      error: this.#fault() ?? null,
    };
  }

  start(): void {
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#interrupt();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const event = await this.#attempt();
      if (this.#isClosed) return;
      if (event !== undefined) this.#take(event);
      await this.#pause(retryDelay(this.#state, Math.random()));
    }
  }

  /** One list or one watch. Never rejects. @returns how it ended */
  async #attempt(): Promise<ReflectorEvent | undefined> {
    const { open, clock } = this.#options;
    const { next, resourceVersion } = this.#state;
    const begin = clock.now();
    const limit = next === 'list' ? LIST_LIMIT : WATCH_SECONDS * 1_000 + LIMIT_BEYOND;
    const request = new AbortController();
    this.#interrupt = () => request.abort(new Error('the speaker ends'));
    const stop = clock.after(limit, () =>
      request.abort(new Error(`no end of the ${next} within ${limit / 1000} s: the connection is dead`)),
    );
    const { signal } = request;
    let source: NodeSource | undefined;
    try {
      source = await open();
      signal.throwIfAborted();
      if (next === 'list') return await source.list(signal);
      const failure = await source.watch(
        resourceVersion,
        WATCH_SECONDS,
        (event) => this.#take(event),
        signal,
      );
      const lastedMs = clock.now() - begin;
      return failure ?? { type: 'ended', lastedMs };
    } catch (error) {
      return {
        type: 'failed',
        status: source?.statusOf(error),
        reason: `${next}: ${errorText(error)}`,
        lastedMs: clock.now() - begin,
      };
    } finally {
      stop();
    }
  }

  #take(event: ReflectorEvent): void {
    if (this.#isClosed) return;
    const { clock, memory, changed } = this.#options;
    this.#state = reflect(this.#state, event, clock.now());
    const { node, isThere } = this.#state;
    const before = memory.wish;
    const wish = node === undefined || !isThere ? undefined : drainWishOf(node.annotation);
    if (wish !== undefined) memory.set(wish);
    this.#tellFault();
    if (memory.wish !== before) changed();
  }

  /** Why the wish may not be what the Node asks for now. */
  #fault(): string | undefined {
    const { error, node, isThere, succeededAt } = this.#state;
    if (error !== undefined) return error;
    if (succeededAt === undefined) return undefined;
    if (!isThere) return `there is no Node ${this.#options.node}`;
    if (drainWishOf(node?.annotation) !== undefined) return undefined;
    const text = JSON.stringify(node?.annotation?.slice(0, 40));
    return `${DRAIN_ANNOTATION} is ${text}; allowed: true, false, force`;
  }

  #tellFault(): void {
    const fault = this.#fault();
    if (fault === this.#told) return;
    this.#told = fault;
    const { node, tell } = this.#options;
    if (fault === undefined) tell(`the drain annotation of Node ${node} is known again`, false);
    else tell(`the drain annotation of Node ${node} stays ${this.wish}: ${fault}`, true);
  }

  async #pause(ms: number): Promise<void> {
    if (ms === 0) return;
    let cancel = (): void => undefined;
    await new Promise<void>((resolve) => {
      cancel = this.#options.clock.after(ms, resolve);
      this.#interrupt = resolve;
    });
    cancel();
  }
}

/** The innermost reason: fetch says only "fetch failed" by itself. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, LONGEST_ERROR);
  const text = error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
  return text.replace(/\s+/g, ' ').slice(0, LONGEST_ERROR);
}
