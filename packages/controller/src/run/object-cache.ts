import {
  type ApiClient,
  type Clock,
  type KubernetesObject,
  type ObjectSelection,
  Reflector,
  type ReflectorStatus,
} from '@bgp-lb/kubernetes';

/** Milliseconds between lists beside the watch, which find what it has missed. What is as before is not told again. */
const RESYNC = 600_000;

export interface ObjectCacheOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly selection: ObjectSelection;
  /** An object is another one now; `undefined` for one that is not there. */
  readonly changed: (before: KubernetesObject | undefined, after: KubernetesObject | undefined) => void;
  /** All is known that was there at the list. Called once. */
  readonly synced: () => void;
  readonly failed: (error: unknown) => void;
}

/** The objects of one collection, as far as the API has told. */
export class ObjectCache {
  readonly #byNamespace = new Map<string, Map<string, KubernetesObject>>();
  readonly #options: ObjectCacheOptions;
  readonly #reflector: Reflector;
  #isSynced = false;
  #lastError: string | undefined;

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    const { client, clock, selection, failed } = options;
    this.#reflector = new Reflector({
      ...{ client, clock, selection, pollInterval: RESYNC },
      handlers: {
        set: (object) => this.#set(object),
        gone: ({ namespace = '', name }) => this.#gone(namespace, name),
        status: () => this.#heard(),
        failed,
      },
    });
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get status(): ReflectorStatus {
    return this.#reflector.status();
  }

  start(): void {
    this.#reflector.start();
  }

  close(): void {
    this.#reflector.close();
  }

  get(namespace: string, name: string): KubernetesObject | undefined {
    return this.#byNamespace.get(namespace)?.get(name);
  }

  list(namespace: string): readonly KubernetesObject[] {
    return [...(this.#byNamespace.get(namespace)?.values() ?? [])];
  }

  all(): readonly KubernetesObject[] {
    return [...this.#byNamespace.values()].flatMap((objects) => [...objects.values()]);
  }

  /** What we have written counts before the watch tells it: or else it would be written once more. */
  wrote(object: KubernetesObject): void {
    const { namespace = '', name } = object.metadata;
    if (this.get(namespace, name) !== undefined) this.#byNamespace.get(namespace)?.set(name, object);
  }

  #set(object: KubernetesObject): void {
    const { namespace = '', name } = object.metadata;
    const objects = this.#byNamespace.get(namespace) ?? new Map<string, KubernetesObject>();
    this.#byNamespace.set(namespace, objects);
    const before = objects.get(name);
    objects.set(name, object);
    this.#options.changed(before, object);
  }

  #gone(namespace: string, name: string): void {
    const objects = this.#byNamespace.get(namespace);
    const before = objects?.get(name);
    objects?.delete(name);
    if (objects?.size === 0) this.#byNamespace.delete(namespace);
    this.#options.changed(before, undefined);
  }

  #heard(): void {
    const { isSynced, error } = this.#reflector.status();
    if (error !== undefined && error !== this.#lastError) {
      const { path } = this.#options.selection;
      this.#options.failed(new Error(`${path} may be old: ${error}`));
    }
    this.#lastError = error;
    if (!isSynced || this.#isSynced) return;
    this.#isSynced = true;
    this.#options.synced();
  }
}
