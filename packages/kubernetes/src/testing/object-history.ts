import { isJsonObject } from '../kubernetes-object.ts';
import { acrossNamespaces } from './api-request.ts';

type Json = Readonly<Record<string, unknown>>;

export interface HistoryEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly path: string;
  readonly version: number;
  readonly object: Json;
}

/** What a Status says. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;

  constructor(code: number, reason: string, message: string) {
    super(message);
    this.code = code;
    this.reason = reason;
  }
}

/** Objects of collections with one count of versions, as etcd has it: stands for the watch cache of an API server. */
export class ObjectHistory {
  readonly #objects = new Map<string, Json>();
  #events: HistoryEvent[] = [];
  #version = 100;
  /** Versions before are compacted. */
  #oldest = 100;

  get version(): number {
    return this.#version;
  }

  /** Creates or replaces. @param path of the collection */
  put(path: string, name: string, object: Json): HistoryEvent {
    this.#version += 1;
    const key = `${path}/${name}`;
    const before = this.#objects.get(key);
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const uid = isJsonObject(before?.['metadata']) ? before['metadata']['uid'] : `uid-${this.#version}`;
    const namespace = path.match(/\/namespaces\/([^/]+)\//)?.[1];
    const full = {
      ...object,
      metadata: {
        ...metadata,
        ...(namespace === undefined ? {} : { namespace }),
        ...{ name, uid, resourceVersion: String(this.#version) },
      },
    };
    this.#objects.set(key, full);
    return this.#record(before === undefined ? 'ADDED' : 'MODIFIED', path, full);
  }

  delete(path: string, name: string): HistoryEvent {
    const key = `${path}/${name}`;
    const before = this.#objects.get(key);
    if (before === undefined) throw new Error(`there is no ${key}`);
    this.#version += 1;
    this.#objects.delete(key);
    const metadata = isJsonObject(before['metadata']) ? before['metadata'] : {};
    const last = { ...before, metadata: { ...metadata, resourceVersion: String(this.#version) } };
    return this.#record('DELETED', path, last);
  }

  /** Forgets what has happened so far. */
  compact(): void {
    this.#version += 1;
    this.#oldest = this.#version;
    this.#events = [];
  }

  /** Objects of a collection, of all namespaces where the path names none. @param name only this one */
  list(path: string, name: string | undefined): readonly Json[] {
    return [...this.#objects].filter(([key]) => isOf(key, path, name)).map(([, object]) => object);
  }

  /** What the owner of this uid takes along when it goes. */
  dependents(uid: unknown): readonly { readonly path: string; readonly name: string }[] {
    return [...this.#objects].flatMap(([key, { metadata }]) => {
      const owners = isJsonObject(metadata) ? metadata['ownerReferences'] : undefined;
      const isOwned = Array.isArray(owners) && owners.some((one) => one.uid === uid);
      return isOwned
        ? [{ path: key.slice(0, key.lastIndexOf('/')), name: key.slice(key.lastIndexOf('/') + 1) }]
        : [];
    });
  }

  /** Events after a version. @throws StatusError 410 where that is compacted */
  since(version: number): readonly HistoryEvent[] {
    if (version < this.#oldest) {
      throw new StatusError(410, 'Expired', `too old resource version: ${version} (${this.#oldest})`);
    }
    return this.#events.filter((event) => event.version > version);
  }

  #record(type: HistoryEvent['type'], path: string, object: Json): HistoryEvent {
    const event = { type, path, version: this.#version, object };
    this.#events.push(event);
    return event;
  }
}

function isOf(key: string, path: string, name: string | undefined): boolean {
  const end = key.lastIndexOf('/');
  const [collection, own] = [key.slice(0, end), key.slice(end + 1)];
  return isWithin(collection, path) && (name === undefined || own === name);
}

/** Whether a collection is the one of a request, which may be over all namespaces. */
export function isWithin(collection: string, path: string): boolean {
  return collection === path || acrossNamespaces(collection) === path;
}
