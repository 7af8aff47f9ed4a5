import { type ApiClient, type KubernetesObject, Reflector } from '@bgp-lb/kubernetes';
import type { Clock } from '@bgp-lb/protocol/node';
import { DRAIN_ANNOTATION, type DrainWish, drainWishOf } from './drain-wish.ts';
import type { WishMemory } from './wish-memory.ts';

/** Milliseconds after which the Node is listed beside the watch, should the watch have lost something. */
const POLL_INTERVAL = 600_000;

export interface AnnotationWatchOptions {
  /** Name of the Node. */
  readonly node: string;
  readonly client: ApiClient;
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

/** Follows the drain annotation of one Node. */
export class AnnotationWatch {
  readonly #options: AnnotationWatchOptions;
  readonly #reflector: Reflector;
  /** `undefined` while there is no such Node, or it is not known yet. */
  #annotation: { readonly text: string | undefined } | undefined;
  #told: string | undefined;

  constructor(options: AnnotationWatchOptions) {
    this.#options = options;
    const { node, client, clock } = options;
    this.#reflector = new Reflector({
      client,
      clock,
      selection: { path: '/api/v1/nodes', fieldSelector: `metadata.name=${node}` },
      pollInterval: POLL_INTERVAL,
      handlers: {
        set: (object) => this.#set(object),
        gone: () => this.#gone(),
        status: () => this.#tellFault(),
        failed: (error) => options.tell(`the drain annotation of Node ${node}: ${String(error)}`, true),
      },
    });
  }

  /** The last known wish. */
  get wish(): DrainWish {
    return this.#options.memory.wish;
  }

  status(): AnnotationStatus {
    const { succeededMs } = this.#reflector.status();
    return {
      node: this.#options.node,
      wish: this.wish,
      succeededMs: succeededMs ?? null,
      error: this.#fault() ?? null,
    };
  }

  start(): void {
    this.#reflector.start();
  }

  close(): void {
    this.#reflector.close();
  }

  #set({ metadata }: KubernetesObject): void {
    const { memory, changed } = this.#options;
    const text = metadata.annotations?.[DRAIN_ANNOTATION];
    this.#annotation = { text };
    const before = memory.wish;
    const wish = drainWishOf(text);
    if (wish !== undefined) memory.set(wish);
    this.#tellFault();
    if (memory.wish !== before) changed();
  }

  /** The last wish stays. */
  #gone(): void {
    this.#annotation = undefined;
    this.#tellFault();
  }

  /** Why the wish may not be what the Node asks for now. */
  #fault(): string | undefined {
    const { error, isSynced } = this.#reflector.status();
    if (error !== undefined) return error;
    if (this.#annotation === undefined)
      return isSynced ? `there is no Node ${this.#options.node}` : undefined;
    const { text } = this.#annotation;
    if (drainWishOf(text) !== undefined) return undefined;
    return `${DRAIN_ANNOTATION} is ${JSON.stringify(text?.slice(0, 40))}; allowed: true, false, force`;
  }

  #tellFault(): void {
    const fault = this.#fault();
    if (fault === this.#told) return;
    this.#told = fault;
    const { node, tell } = this.#options;
    if (fault === undefined) tell(`the drain annotation of Node ${node} is known again`, false);
    else tell(`the drain annotation of Node ${node} stays ${this.wish}: ${fault}`, true);
  }
}
