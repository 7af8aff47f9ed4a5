import type { ApiClient } from './api-client.ts';
import { ApiError } from './api-error.ts';
import {
  isJsonObject,
  type KubernetesObject,
  kubernetesObject,
  resourceVersionOf,
} from './kubernetes-object.ts';
import { readText } from './read-text.ts';

/** Objects of one page. */
const PAGE = 500;
/** Octets of one page. */
const LONGEST_PAGE = 16 << 20;
/** Objects of all pages: more are a mistake of the selector. */
const MOST_OBJECTS = 20_000;

/** What is watched: a collection, or with a `fieldSelector` part of it. */
export interface ObjectSelection {
  /** Path of the collection: `/api/v1/nodes`. */
  readonly path: string;
  /** `metadata.name=NAME` for one object, which is also what makes `resourceNames` of RBAC apply. */
  readonly fieldSelector?: string | undefined;
  /** Objects with these labels alone. */
  readonly labelSelector?: string | undefined;
}

export interface ObjectList {
  readonly objects: readonly KubernetesObject[];
  readonly resourceVersion: string;
}

/** The query of a selection. */
export function selectionQuery({ fieldSelector, labelSelector }: ObjectSelection): Record<string, string> {
  return {
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}

/** Lists all pages. @throws ApiError, or the reason of the signal */
export async function listObjects(
  client: ApiClient,
  selection: ObjectSelection,
  signal: AbortSignal,
): Promise<ObjectList> {
  const objects: KubernetesObject[] = [];
  let next: string | undefined;
  for (;;) {
    const query = {
      ...selectionQuery(selection),
      limit: String(PAGE),
      ...(next === undefined ? {} : { continue: next }),
    };
    const text = await readText(await client.get(selection.path, query, signal), LONGEST_PAGE, signal);
    const page = parsePage(text);
    objects.push(...page.objects);
    if (objects.length > MOST_OBJECTS)
      throw new ApiError('malformed', `more than ${MOST_OBJECTS} objects are listed`);
    if (page.next === undefined) return { objects, resourceVersion: page.resourceVersion };
    if (page.objects.length === 0)
      throw new ApiError('malformed', 'a page of the list is empty, and not the last');
    next = page.next;
  }
}

function parsePage(text: string): ObjectList & { readonly next: string | undefined } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError('malformed', `the API server's list is no JSON: ${text.slice(0, 40)}`);
  }
  const resourceVersion = resourceVersionOf(value);
  const { items, metadata } = value as { readonly items: unknown; readonly metadata: object };
  // Go's empty list may be null.
  if (items !== null && !Array.isArray(items))
    throw new ApiError('malformed', "the API server's list has no items");
  const next: unknown = isJsonObject(metadata) ? metadata['continue'] : undefined;
  return {
    objects: (items ?? []).map(kubernetesObject),
    resourceVersion,
    next: typeof next === 'string' && next !== '' ? next : undefined,
  };
}
