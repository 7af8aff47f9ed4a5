import type * as z from 'zod';

/**
 * A zod schema seen as a tree of keys. Wrappers (optional, default, transform) are taken off and unions are flattened, so that
 * a place in the tree is a list of alternatives, none of which is a union.
 */
export type Alternatives = readonly z.core.$ZodTypes[];

/** The schema without the wrappers that do not change what the file may contain. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodTypes {
  // zod's own recipe for walking a schema: $ZodTypes is the union of all types that $ZodType stands for.
  let current = schema as z.core.$ZodTypes;
  for (;;) {
    const def = current._zod.def;
    switch (def.type) {
      case 'optional':
      case 'nullable':
      case 'default':
      case 'prefault':
      case 'nonoptional':
      case 'readonly':
      case 'catch':
        current = def.innerType as z.core.$ZodTypes;
        break;
      case 'lazy':
        current = def.getter() as z.core.$ZodTypes;
        break;
      case 'pipe':
        // A preprocessing step takes anything; what it makes is then checked by the second schema.
        current = (def.in._zod.def.type === 'transform' ? def.out : def.in) as z.core.$ZodTypes;
        break;
      default:
        return current;
    }
  }
}

/** All alternatives of a schema: one, unless it is a union. */
export function alternativesOf(schema: z.core.$ZodType): Alternatives {
  const bare = unwrap(schema);
  const def = bare._zod.def;
  if (def.type === 'union') return def.options.flatMap((option) => alternativesOf(option));
  if (def.type === 'intersection') return [...alternativesOf(def.left), ...alternativesOf(def.right)];
  return [bare];
}

/** True for the mappings of YAML: plain objects. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Leaves out the object alternatives whose literal keys (the discriminator of a union) contradict the value. */
export function matching(alternatives: Alternatives, value: unknown): Alternatives {
  if (!isMapping(value) || alternatives.length < 2) return alternatives;
  const fitting = alternatives.filter((alternative) => {
    const def = alternative._zod.def;
    if (def.type !== 'object') return true;
    return Object.entries(def.shape).every(([key, field]) => {
      const literal = unwrap(field)._zod.def;
      return (
        literal.type !== 'literal' || !(key in value) || literal.values.some((one) => one === value[key])
      );
    });
  });
  return fitting.some((one) => one._zod.def.type === 'object') ? fitting : alternatives;
}

/** The keys that a mapping may have, and whether it may have any others (a record). */
export function knownKeys(alternatives: Alternatives): { keys: readonly string[]; isOpen: boolean } {
  const keys = new Set<string>();
  let isOpen = false;
  for (const alternative of alternatives) {
    const def = alternative._zod.def;
    if (def.type === 'object') {
      for (const key of Object.keys(def.shape)) keys.add(key);
      // A strict object's catchall is `never`; anything else means that other keys are wanted.
      if (def.catchall !== undefined && def.catchall._zod.def.type !== 'never') isOpen = true;
    } else if (def.type === 'record' || def.type === 'any' || def.type === 'unknown') {
      isOpen = true;
    }
  }
  return { keys: [...keys], isOpen };
}

/** True when a mapping is possible here. */
export function takesMapping(alternatives: Alternatives): boolean {
  return alternatives.some((one) => ['object', 'record'].includes(one._zod.def.type));
}

/** The schemas of a key or of a list's element, as written, wrappers included. */
export function childSchemas(alternatives: Alternatives, key: PropertyKey): readonly z.core.$ZodType[] {
  return alternatives.flatMap((alternative): readonly z.core.$ZodType[] => {
    const def = alternative._zod.def;
    switch (def.type) {
      case 'object': {
        const field = Object.hasOwn(def.shape, key) ? def.shape[String(key)] : undefined;
        return field === undefined ? [] : [field];
      }
      case 'record':
        return [def.valueType];
      case 'array':
        return /^\d+$/.test(String(key)) ? [def.element] : [];
      case 'tuple': {
        const item = def.items[Number(key)] ?? def.rest;
        return item === undefined || item === null ? [] : [item];
      }
      default:
        return [];
    }
  });
}

/** The alternatives one step down. */
export function child(alternatives: Alternatives, key: PropertyKey): Alternatives {
  return childSchemas(alternatives, key).flatMap((schema) => alternativesOf(schema));
}

/** What a value may be in YAML's terms. */
export type ValueType = 'string' | 'number' | 'boolean' | 'mapping' | 'list' | 'null';

const TYPES: Partial<Record<z.core.$ZodTypeDef['type'], ValueType>> = {
  string: 'string',
  template_literal: 'string',
  number: 'number',
  int: 'number',
  bigint: 'number',
  boolean: 'boolean',
  object: 'mapping',
  record: 'mapping',
  array: 'list',
  tuple: 'list',
  null: 'null',
};

/** The YAML type of a JavaScript value. */
export function valueType(value: unknown): ValueType {
  if (Array.isArray(value)) return 'list';
  if (value === null || value === undefined) return 'null';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'object':
      return 'mapping';
    default:
      return 'number';
  }
}

/** The types that are possible here; empty means any. */
export function acceptedTypes(alternatives: Alternatives): ReadonlySet<ValueType> {
  const types = new Set<ValueType>();
  for (const alternative of alternatives) {
    const def = alternative._zod.def;
    if (def.type === 'enum') for (const value of Object.values(def.entries)) types.add(valueType(value));
    else if (def.type === 'literal') for (const value of def.values) types.add(valueType(value));
    else {
      const type = TYPES[def.type];
      if (type !== undefined) types.add(type);
    }
  }
  return types;
}
