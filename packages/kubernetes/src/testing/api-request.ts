/** What a URL and a method ask for. */
export interface ApiRequest {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  readonly verb: string;
  /** Path of the collection, with the namespace where it has one. */
  readonly collection: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string | undefined;
  readonly resource: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** `undefined` for what is no resource. @param name of a field selector, which is a `list` or `watch` of one object */
export function apiRequest(method: string, path: string, isWatch: boolean): ApiRequest | undefined {
  const match = path.match(
    /^(?:\/api\/(?<core>v1)|\/apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+)(?=\/))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>[^/]+))?$/,
  )?.groups;
  if (match === undefined) return undefined;
  const { core, group = '', version = core ?? '', namespace, resource = '', name, subresource } = match;
  const collection = path
    .split('/')
    .slice(0, path.split('/').length - (name === undefined ? 0 : 1) - (subresource === undefined ? 0 : 1))
    .join('/');
  const read = name === undefined ? (isWatch ? 'watch' : 'list') : 'get';
  const verb = method === 'GET' ? read : (VERBS[method] ?? method.toLowerCase());
  return { verb, collection, group, version, namespace, resource, name, subresource };
}

/** The collection over all namespaces of one within a namespace. */
export function acrossNamespaces(collection: string): string {
  return collection.replace(/\/namespaces\/[^/]+\/(?=[^/]+$)/, '/');
}
