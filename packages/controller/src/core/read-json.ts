import { isJsonObject } from '@bgp-lb/kubernetes';

type Json = Readonly<Record<string, unknown>>;

/** What stands at a path of an object of others, whose shape is not checked; `undefined` where there is nothing. */
export function valueAt(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const key of path) found = isJsonObject(found) ? found[key] : undefined;
  return found;
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = valueAt(value, ...path);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export function listAt(value: unknown, ...path: readonly string[]): readonly Json[] {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}
