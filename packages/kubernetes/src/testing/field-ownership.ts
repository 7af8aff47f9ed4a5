import { isJsonObject } from '../kubernetes-object.ts';
import { elementKey, type ResourceSchema } from './resource-schema.ts';

type Json = Readonly<Record<string, unknown>>;
/** A field's place: `f:NAME`, `k:{"name":"x"}` or `v:"x"` each, as fieldsV1 writes them. */
type Path = readonly string[];

/** The fields of one manager. */
interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly subresource: string | undefined;
  readonly paths: ReadonlySet<string>;
}

/** Of an apply that others' fields stand against. */
export class ApplyConflict extends Error {}

/** Who has set which fields of one object: server-side apply ("Field management"). */
export class FieldOwnership {
  #managers: readonly Manager[] = [];

  /** `metadata.managedFields`. */
  managedFields(): readonly object[] {
    return this.#managers.map(({ manager, operation, subresource, paths }) => ({
      ...{ manager, operation, fieldsType: 'FieldsV1' },
      ...(subresource === undefined ? {} : { subresource }),
      fieldsV1: nested(paths),
    }));
  }

  /** The object with the fields of `manager` as they are applied: those that it applied before and now does not are gone. @throws ApplyConflict */
  apply(
    schema: ResourceSchema | undefined,
    current: Json,
    applied: Json,
    by: { readonly manager: string; readonly subresource: string | undefined; readonly force: boolean },
  ): Json {
    const paths = leaves(schema, applied, []);
    const isOwn = (one: Manager): boolean =>
      one.manager === by.manager && one.operation === 'Apply' && one.subresource === by.subresource;
    const others = this.#managers.filter((one) => !isOwn(one));
    const conflicts = paths.filter(
      ([path, value]) =>
        !isEqual(valueAt(schema, current, path), value) && others.some((one) => one.paths.has(keyOf(path))),
    );
    if (conflicts.length > 0 && !by.force) {
      const [[first = []] = [[]]] = conflicts;
      const owner = others.find((one) => one.paths.has(keyOf(first)))?.manager;
      throw new ApplyConflict(
        `Apply failed with ${conflicts.length} conflict: conflict with "${owner}": ${dotted(first)}`,
      );
    }
    const taken = new Set(conflicts.map(([path]) => keyOf(path)));
    const kept = others.map((one) => ({ ...one, paths: without(one.paths, taken) }));
    const own = new Set(paths.map(([path]) => keyOf(path)));
    const before = this.#managers.find(isOwn)?.paths ?? new Set<string>();
    const dropped = [...before].filter((path) => !own.has(path) && !kept.some((one) => one.paths.has(path)));
    let next: unknown = merged(schema, current, applied);
    // The key of an element last: it is known by it.
    for (const path of dropped.toSorted((one, other) => Number(isKeyField(one)) - Number(isKeyField(other))))
      next = removed(schema, next, JSON.parse(path) as Path);
    this.#managers = [...kept, { ...by, operation: 'Apply' as const, paths: own }].filter(
      ({ paths: all }) => all.size > 0,
    );
    return next as Json;
  }

  /** What another kind of write has changed is its writer's from now on. */
  update(schema: ResourceSchema | undefined, before: Json, after: Json, manager: string): void {
    const now = leaves(schema, after, []);
    const changed = now
      .filter(([path, value]) => !isEqual(valueAt(schema, before, path), value))
      .map(([path]) => keyOf(path));
    const present = new Set(now.map(([path]) => keyOf(path)));
    const gone = new Set(
      leaves(schema, before, [])
        .map(([path]) => keyOf(path))
        .filter((path) => !present.has(path)),
    );
    const lost = new Set([...changed, ...gone]);
    if (lost.size === 0) return;
    const own = this.#managers.find((one) => one.manager === manager && one.operation === 'Update');
    const others = this.#managers.filter((one) => one !== own);
    this.#managers = [
      ...others.map((one) => ({ ...one, paths: without(one.paths, lost) })),
      {
        ...{ manager, operation: 'Update' as const, subresource: undefined },
        paths: new Set([...without(own?.paths ?? new Set(), gone), ...changed]),
      },
    ].filter(({ paths }) => paths.size > 0);
  }
}

/** Not fields that a manager can own. */
const IDENTITY = new Set([
  'apiVersion',
  'kind',
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'managedFields',
  'creationTimestamp',
  'deletionTimestamp',
]);

/** Whether elements of a list are fields of their own. */
function isKeyed(schema: ResourceSchema | undefined): boolean {
  return ['map', 'set'].includes(schema?.['x-kubernetes-list-type'] ?? '');
}

/** `[..., 'k:{"name":"x"}', 'f:name']`. */
function isKeyField(text: string): boolean {
  const [element = '', field = ''] = (JSON.parse(text) as Path).slice(-2);
  return element.startsWith('k:') && element.includes(`"${field.slice(2)}":`);
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

function dotted(path: Path): string {
  return path.map((part) => (part.startsWith('f:') ? `.${part.slice(2)}` : `[${part.slice(2)}]`)).join('');
}

function childOf(schema: ResourceSchema | undefined, key: string, depth: number): ResourceSchema | undefined {
  if (depth === 1 && key === 'ownerReferences')
    return { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['uid'] };
  const extra = schema?.additionalProperties;
  return schema?.properties?.[key] ?? (isJsonObject(extra) ? (extra as ResourceSchema) : undefined);
}

/** All fields with a value of their own. Lists without a type are one field. */
function leaves(
  schema: ResourceSchema | undefined,
  value: unknown,
  path: Path,
): (readonly [Path, unknown])[] {
  if (isJsonObject(value)) {
    const isTop = path.length === 0 || (path.length === 1 && path[0] === 'f:metadata');
    const inner = Object.entries(value)
      .filter(([key]) => !(isTop && IDENTITY.has(key)))
      .flatMap(([key, one]) => leaves(childOf(schema, key, path.length), one, [...path, `f:${key}`]));
    return inner.length === 0 && !isTop ? [[path, {}]] : inner;
  }
  if (Array.isArray(value) && isKeyed(schema)) {
    return value.flatMap((one) => {
      const part = `${isJsonObject(one) ? 'k' : 'v'}:${elementKey(schema, one)}`;
      return isJsonObject(one)
        ? leaves(schema?.items, one, [...path, part])
        : [[[...path, part], one] as const];
    });
  }
  return [[path, value]];
}

function valueAt(schema: ResourceSchema | undefined, value: unknown, path: Path, depth = 0): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return isJsonObject(value) ? {} : value;
  const key = part.slice(2);
  if (part.startsWith('f:'))
    return isJsonObject(value)
      ? valueAt(childOf(schema, key, depth), value[key], rest, depth + 1)
      : undefined;
  const element = Array.isArray(value) ? value.find((one) => elementKey(schema, one) === key) : undefined;
  return valueAt(schema?.items, element, rest, depth + 1);
}

function merged(schema: ResourceSchema | undefined, current: unknown, applied: unknown, depth = 0): unknown {
  if (isJsonObject(applied)) {
    const base = isJsonObject(current) ? current : {};
    const inner = Object.entries(applied).map(([key, one]) => [
      key,
      merged(childOf(schema, key, depth), base[key], one, depth + 1),
    ]);
    return { ...base, ...Object.fromEntries(inner) };
  }
  if (!Array.isArray(applied) || !isKeyed(schema) || !Array.isArray(current)) return applied;
  const kept = current.map((one) => {
    const other = applied.find((candidate) => elementKey(schema, candidate) === elementKey(schema, one));
    return other === undefined ? one : merged(schema?.items, one, other, depth + 1);
  });
  const known = new Set(current.map((one) => elementKey(schema, one)));
  return [...kept, ...applied.filter((one) => !known.has(elementKey(schema, one)))];
}

/** Without a field; an element of a list of which only its key is left goes as well. */
function removed(schema: ResourceSchema | undefined, value: unknown, path: Path, depth = 0): unknown {
  const [part = '', ...rest] = path;
  const key = part.slice(2);
  if (part.startsWith('f:') && isJsonObject(value)) {
    const { [key]: found, ...others } = value;
    if (rest.length === 0 || found === undefined) return others;
    return { ...others, [key]: removed(childOf(schema, key, depth), found, rest, depth + 1) };
  }
  if (!Array.isArray(value)) return value;
  return value.flatMap((one) => {
    if (elementKey(schema, one) !== key) return [one];
    if (rest.length === 0) return [];
    const left = removed(schema?.items, one, rest, depth + 1);
    return isJsonObject(left) && Object.keys(left).length === 0 ? [] : [left];
  });
}

function without(paths: ReadonlySet<string>, taken: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...paths].filter((path) => !taken.has(path)));
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function nested(paths: ReadonlySet<string>): object {
  const root: Record<string, unknown> = {};
  for (const path of paths) {
    let at = root;
    for (const part of JSON.parse(path) as Path) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
  }
  return root;
}
