import type { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import type { Clock } from './clock.ts';
import {
  isJsonObject,
  type KubernetesObject,
  kubernetesObject,
  resourceVersionOf,
} from './kubernetes-object.ts';
import { type ObjectSelection, selectionQuery } from './list-objects.ts';
import { readLines } from './read-text.ts';

/** Milliseconds without anything after which a watch is ended: bookmarks come about once a minute. */
const LONGEST_SILENCE = 90_000;
/** Octets of one event. An object of etcd has at most 1.5 MiB. */
const LONGEST_EVENT = 8 << 20;
/** HTTP: the resourceVersion is older than what the API server remembers. */
const GONE = 410;

/** What one event of a watch says. */
export type WatchEvent =
  | { readonly type: 'set' | 'gone'; readonly object: KubernetesObject }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

export interface WatchOptions {
  readonly client: ApiClient;
  readonly selection: ObjectSelection;
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The API server has begun to answer. */
  readonly begun: () => void;
}

/**
 * The events of one watch, until the API server ends it.
 * @throws ApiError, with the status of an ERROR event; or the reason of the signal
 */
export async function* watchObjects(options: WatchOptions): AsyncGenerator<WatchEvent> {
  const { client, selection, resourceVersion, timeoutSeconds, clock, signal, begun } = options;
  const silence = new AbortController();
  const both = AbortSignal.any([signal, silence.signal]);
  const rearm = (): (() => void) =>
    clock.after(LONGEST_SILENCE, () =>
      silence.abort(
        new ApiError('unreachable', `nothing heard for ${LONGEST_SILENCE / 1_000} s: the connection is dead`),
      ),
    );
  let stop = rearm();
  try {
    const answer = await client.get(
      selection.path,
      {
        ...selectionQuery(selection),
        ...{ watch: 'true', allowWatchBookmarks: 'true', resourceVersion },
        timeoutSeconds: String(timeoutSeconds),
      },
      both,
    );
    begun();
    const heard = (): void => {
      stop();
      stop = rearm();
    };
    for await (const line of readLines(answer, LONGEST_EVENT, heard)) {
      const event = parseEvent(line);
      if (event !== undefined) yield event;
      both.throwIfAborted();
    }
    both.throwIfAborted();
  } catch (error) {
    both.throwIfAborted();
    throw error;
  } finally {
    stop();
    // Ends the request, whichever way the watch ended.
    silence.abort();
  }
}

/** `undefined` for an event of a kind that is not known. */
function parseEvent(line: string): WatchEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new ApiError('malformed', `an event of the watch is no JSON: ${line.slice(0, 40)}`);
  }
  const { type, object } = isJsonObject(value) ? value : {};
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'set', object: kubernetesObject(object) };
    case 'DELETED':
      return { type: 'gone', object: kubernetesObject(object) };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: resourceVersionOf(object) };
    case 'ERROR':
      throw errorOf(object);
    default:
      return undefined;
  }
}

function errorOf(status: unknown): ApiError {
  const { code, message } = isJsonObject(status) ? status : {};
  const known = typeof code === 'number' ? code : 500;
  if (known === GONE) return new ApiError('refused', 'the watch is too old (410)', GONE);
  const text = typeof message === 'string' ? `: ${message}` : '';
  return new ApiError('refused', `the API server ended the watch with ${known}${text}`, known);
}
