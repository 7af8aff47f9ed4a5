import { type ApiClient, ApiError, isJsonObject } from '@bgp-lb/kubernetes';
import { API_VERSION, GROUP, type OwnKind, RESOURCES } from '../api/group.ts';
import { listAt, textAt } from '../core/read-json.ts';

const NOT_FOUND = 404;
/** Milliseconds for one answer. */
const LIMIT = 10_000;

/** Where the objects of a kind are. */
export interface Resource {
  /** `cluster.x-k8s.io/v1beta2`. */
  readonly apiVersion: string;
  readonly plural: string;
}

/** The path of a collection. @param namespace all namespaces where it is undefined */
export function collectionPath({ apiVersion, plural }: Resource, namespace: string | undefined): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
}

/** Kinds of the API that need no question. */
function knownResource(group: string, kind: string): Resource | undefined {
  if (group === GROUP && Object.hasOwn(RESOURCES, kind))
    return { apiVersion: API_VERSION, plural: RESOURCES[kind as OwnKind] };
  if (group === '' && kind === 'Node') return { apiVersion: 'v1', plural: 'nodes' };
  return group === '' && kind === 'ConfigMap' ? { apiVersion: 'v1', plural: 'configmaps' } : undefined;
}

/** Asks the API server for a kind, in the version that it prefers. `undefined`: there is none. @throws ApiError */
export async function discover(
  client: ApiClient,
  group: string,
  kind: string,
): Promise<Resource | undefined> {
  const known = knownResource(group, kind);
  if (known !== undefined) return known;
  try {
    const about = await client.send({ method: 'GET', path: `/apis/${group}` }, AbortSignal.timeout(LIMIT));
    const version = textAt(about, 'preferredVersion', 'version');
    if (version === undefined) return undefined;
    const resources = await client.send(
      { method: 'GET', path: `/apis/${group}/${version}` },
      AbortSignal.timeout(LIMIT),
    );
    const found = listAt(resources, 'resources').find(
      (one) => one['kind'] === kind && textAt(one, 'name')?.includes('/') === false,
    );
    const plural = isJsonObject(found) ? textAt(found, 'name') : undefined;
    return plural === undefined ? undefined : { apiVersion: `${group}/${version}`, plural };
  } catch (error) {
    if (error instanceof ApiError && error.status === NOT_FOUND) return undefined;
    throw error;
  }
}
