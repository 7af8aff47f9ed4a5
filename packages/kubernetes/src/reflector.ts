import type { ApiClient } from './api-client.ts';
import { ApiError, errorText } from './api-error.ts';
import type { Clock } from './clock.ts';
import { type KubernetesObject, objectKey } from './kubernetes-object.ts';
import { listObjects, type ObjectList, type ObjectSelection } from './list-objects.ts';
import {
  initialState,
  nextState,
  type ReflectorEvent,
  type ReflectorState,
  retryDelay,
  SHORTEST_WATCH,
  watchSeconds,
} from './reflector-state.ts';
import { type WatchEvent, watchObjects } from './watch-objects.ts';

/** Milliseconds that a list may take, all its pages. */
const LIST_LIMIT = 60_000;

/** Who is told. What a handler throws goes to `failed`, and ends nothing. */
export interface ReflectorHandlers {
  /** The object has appeared or is another one now. */
  readonly set: (object: KubernetesObject) => void;
  /** The object is gone: deleted, or missing in a list. */
  readonly gone: (object: { readonly namespace?: string | undefined; readonly name: string }) => void;
  /** Status is another one: after each list, and with each failure and its end. */
  readonly status: () => void;
  /** A handler has thrown. */
  readonly failed: (error: unknown) => void;
}

export interface ReflectorOptions {
  readonly client: ApiClient;
  readonly selection: ObjectSelection;
  /** Milliseconds between the lists beside the watch, should the watch be deaf. */
  readonly pollInterval: number;
  readonly clock: Clock;
  readonly handlers: ReflectorHandlers;
}

export interface ReflectorStatus {
  /** All is known that was there at the last list. */
  readonly isSynced: boolean;
  /** Milliseconds since the last answer of the API server that was of use; `undefined` before the first. */
  readonly succeededMs: number | undefined;
  /** Why what is known may be old. */
  readonly error: string | undefined;
}

interface Known {
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/**
 * Follows a selection of objects for ever: list, then watch from there (as client-go's Reflector), with a list beside the watch
 * now and then. What is known stays through every failure; what a list no longer has is reported as gone.
 */
export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #known = new Map<string, Known>();
  /** What ends the requests and pauses that go on. */
  readonly #interrupts = new Set<() => void>();
  #isClosed = false;
  #state: ReflectorState = initialState;
  /** Answers taken so far, of lists and of the watch. */
  #answers = 0;
  /** Ends the watch that goes on, to begin again from a later list. */
  #rewatch: () => void = () => undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  status(): ReflectorStatus {
    const { succeededAt, listedAt, error, pollError } = this.#state;
    return {
      isSynced: listedAt !== undefined,
      succeededMs:
        succeededAt === undefined ? undefined : Math.round(this.#options.clock.now() - succeededAt),
      error: error ?? pollError,
    };
  }

  start(): void {
    void this.#run();
    void this.#poll();
  }

  close(): void {
    this.#isClosed = true;
    for (const interrupt of [...this.#interrupts]) interrupt();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const began = this.#options.clock.now();
      try {
        if (this.#state.next === 'list') await this.#list();
        else await this.#watch(began);
      } catch (error) {
        this.#fail(error, began);
      }
      await this.#pause(retryDelay(this.#state, Math.random()));
    }
  }

  #fail(error: unknown, began: number): void {
    if (this.#isClosed) return;
    const kind = error instanceof ApiError ? error.kind : 'unreachable';
    if (kind !== 'refused') this.#options.client.doubt();
    const reason = `${this.#state.next}: ${errorText(error)}`;
    this.#take({ type: 'failed', kind, reason, lastedMs: this.#options.clock.now() - began });
  }

  async #list(): Promise<void> {
    const { objects, resourceVersion } = await this.#listNow();
    if (this.#isClosed) return;
    this.#replace(objects);
    this.#take({ type: 'listed', resourceVersion });
  }

  async #listNow(): Promise<ObjectList> {
    const { client, selection, clock } = this.#options;
    return await this.#interruptible(async (request) => {
      const stop = clock.after(LIST_LIMIT, () =>
        request.abort(new Error(`no end within ${LIST_LIMIT / 1_000} s`)),
      );
      try {
        return await listObjects(client, selection, request.signal);
      } finally {
        stop();
      }
    });
  }

  async #watch(began: number): Promise<void> {
    const { client, selection, clock } = this.#options;
    const { resourceVersion } = this.#state;
    const timeoutSeconds = watchSeconds(Math.random());
    await this.#interruptible(async (request) => {
      const { signal } = request;
      this.#rewatch = () => request.abort();
      let cancel = (): void => undefined;
      const begun = (): void => {
        cancel = clock.after(SHORTEST_WATCH, () => this.#take({ type: 'watching' }));
      };
      const options = { client, selection, resourceVersion, timeoutSeconds, clock, signal, begun };
      try {
        for await (const event of watchObjects(options)) {
          if (signal.aborted) return;
          this.#hear(event);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        cancel();
      }
      if (!signal.aborted) this.#take({ type: 'ended', lastedMs: clock.now() - began });
    });
  }

  #hear(event: WatchEvent): void {
    if (event.type === 'bookmark') {
      this.#take({ type: 'heard', resourceVersion: event.resourceVersion });
      return;
    }
    const { metadata } = event.object;
    if (event.type === 'set') this.#set(event.object);
    else this.#gone(objectKey(metadata));
    this.#take({ type: 'heard', resourceVersion: metadata.resourceVersion });
  }

  /** Lists beside the watch. What the watch should have told, and did not, is taken, and the watch begins again from there. */
  async #poll(): Promise<void> {
    while (!this.#isClosed) {
      await this.#pause(this.#options.pollInterval);
      if (this.#isClosed || this.#state.next === 'list') continue;
      try {
        await this.#compare();
      } catch (error) {
        const isCurrent = !this.#isClosed && this.#state.next === 'watch';
        if (isCurrent) this.#take({ type: 'unconfirmed', reason: `poll: ${errorText(error)}` });
      }
    }
  }

  async #compare(): Promise<void> {
    const answers = this.#answers;
    const { objects, resourceVersion } = await this.#listNow();
    // Of two answers that cross, it is not known which is the older one.
    if (this.#isClosed || answers !== this.#answers) return;
    if (!this.#replace(objects)) {
      this.#take({ type: 'confirmed' });
      return;
    }
    this.#take({ type: 'listed', resourceVersion });
    this.#rewatch();
  }

  /** @returns whether anything is another one than before */
  #replace(objects: readonly KubernetesObject[]): boolean {
    const keys = new Set(objects.map(({ metadata }) => objectKey(metadata)));
    const gone = [...this.#known.keys()].filter((key) => !keys.has(key));
    for (const key of gone) this.#gone(key);
    const changed = objects.filter((object) => this.#set(object));
    return gone.length + changed.length > 0;
  }

  #set(object: KubernetesObject): boolean {
    const { uid, resourceVersion, namespace, name } = object.metadata;
    const key = objectKey(object.metadata);
    const before = this.#known.get(key);
    if (before?.uid === uid && before?.resourceVersion === resourceVersion) return false;
    this.#known.set(key, { uid, resourceVersion, namespace, name });
    this.#call(() => this.#options.handlers.set(object));
    return true;
  }

  #gone(key: string): void {
    const before = this.#known.get(key);
    if (before === undefined) return;
    this.#known.delete(key);
    this.#call(() => this.#options.handlers.gone(before));
  }

  #take(event: ReflectorEvent): void {
    if (this.#isClosed) return;
    const before = this.#state;
    this.#state = nextState(before, event, this.#options.clock.now());
    if (event.type === 'listed' || event.type === 'heard') this.#answers += 1;
    const { error, pollError } = this.#state;
    if (event.type === 'listed' || error !== before.error || pollError !== before.pollError) {
      this.#call(() => this.#options.handlers.status());
    }
  }

  #call(handler: () => void): void {
    if (this.#isClosed) return;
    try {
      handler();
    } catch (error) {
      try {
        this.#options.handlers.failed(error);
      } catch {
        // All that can be told has been.
      }
    }
  }

  async #interruptible<T>(work: (request: AbortController) => Promise<T>): Promise<T> {
    const request = new AbortController();
    const interrupt = (): void => request.abort(new Error('closed'));
    this.#interrupts.add(interrupt);
    try {
      return await work(request);
    } finally {
      this.#interrupts.delete(interrupt);
    }
  }

  async #pause(ms: number): Promise<void> {
    if (ms === 0 || this.#isClosed) return;
    let resolve = (): void => undefined;
    const over = new Promise<void>((done) => {
      resolve = done;
    });
    const stop = this.#options.clock.after(ms, resolve);
    this.#interrupts.add(resolve);
    await over;
    this.#interrupts.delete(resolve);
    stop();
  }
}
