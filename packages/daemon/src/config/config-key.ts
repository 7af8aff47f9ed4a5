import type * as z from 'zod';
import { allowedOf, innerOf, kindOf, listText } from './allowed-text.ts';
import { fieldKinds } from './field.ts';
import { variableName } from './override.ts';
import { alternativesOf, child, childSchemas, isMapping, knownKeys, unwrap } from './schema-alternatives.ts';

/** One key of a configuration, for the documentation. */
export interface ConfigKey {
  /** `neighbors[].holdTime`; `[]` stands for each element of a list. */
  readonly path: string;
  /** The name of the type: `duration`, `list`, `true or false`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** The default as one would write it in the file; undefined when there is none. */
  readonly default?: unknown;
  readonly description: string;
  /** What is accepted, where the type does not say it. */
  readonly allowed?: string;
  /** The environment variable, `N` for an index. */
  readonly variable: string;
  /** True for a mapping, whose own keys follow. */
  readonly isMapping: boolean;
}

/** The keys of a schema, depth first, in the order of the schema. */
export function describeSchema(schema: z.ZodType): ConfigKey[] {
  return [...keysBelow([schema], [], '')];
}

function* keysBelow(
  schemas: readonly z.core.$ZodType[],
  path: readonly string[],
  text: string,
): Generator<ConfigKey> {
  const alternatives = schemas.flatMap((schema) => alternativesOf(schema));
  for (const name of knownKeys(alternatives).keys) {
    const fields = childSchemas(alternatives, name);
    const own = text === '' ? name : `${text}.${name}`;
    yield describeKey(fields, [...path, name], own);
    yield* keysBelow(fields, [...path, name], own);
    const elements = childSchemas(child(alternatives, name), 0).filter((one) => isObject(one));
    if (elements.length > 0) yield* keysBelow(elements, [...path, name, 'N'], `${own}[]`);
  }
}

function isObject(schema: z.core.$ZodType): boolean {
  return alternativesOf(schema).some((one) => one._zod.def.type === 'object');
}

/** Also where a word in it chooses between several shapes. */
function isAlwaysObject(schema: z.core.$ZodType): boolean {
  return alternativesOf(schema).every((one) => one._zod.def.type === 'object');
}

function describeKey(fields: readonly z.core.$ZodType[], path: readonly string[], text: string): ConfigKey {
  const defaults = fields.map(defaultOf).find((one) => one !== undefined);
  const allowed = listText(distinct(fields.map(narrowing)));
  const type = [...new Set(fields.map(typeOf))].join(' or ');
  const isMapping = fields.some(isAlwaysObject);
  return {
    path: text,
    type,
    isRequired: fields.every((field) => field._zod.optin === undefined),
    ...(defaults === undefined ? {} : { default: defaults.value }),
    description: distinct(fields.map((field) => ownDescription(field, fields.length > 1))).join(' '),
    ...(allowed === '' || allowed === type || isMapping ? {} : { allowed }),
    variable: variableName(path),
    isMapping,
  };
}

function distinct(texts: readonly (string | undefined)[]): string[] {
  return [...new Set(texts.filter((text) => text !== undefined))];
}

/** The description; of a word that chooses between shapes, with the word before it. */
function ownDescription(field: z.core.$ZodType, isChoice: boolean): string | undefined {
  const description = descriptionOf(field);
  const { def } = unwrap(field)._zod;
  if (!isChoice || def.type !== 'literal' || description === undefined) return description;
  return `\`${def.values.map(String).join('`, `')}\`: ${description}`;
}

/** What is allowed beyond what the type's name says. */
function narrowing(schema: z.core.$ZodType): string | undefined {
  const kind = kindOf(schema);
  return kind === undefined ? allowedOf(schema) : kind.limits;
}

function descriptionOf(schema: z.core.$ZodType): string | undefined {
  const own = (schema as z.ZodType).description;
  if (own !== undefined) return own;
  const inner = innerOf(schema);
  return inner === undefined ? undefined : descriptionOf(inner);
}

function defaultOf(schema: z.core.$ZodType): { value: unknown } | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'default' || def.type === 'prefault')
    return { value: asWritten(schema, def.defaultValue) };
  const inner = innerOf(schema);
  return inner === undefined ? undefined : defaultOf(inner);
}

/** An output value (a duration in milliseconds) as it stands in a file (`9s`). */
export function asWritten(schema: z.core.$ZodType, value: unknown): unknown {
  const format = kindOf(schema)?.format;
  if (format !== undefined) return format(value);
  const alternatives = alternativesOf(schema);
  const [element] = childSchemas(alternatives, 0);
  if (Array.isArray(value)) {
    return element === undefined ? value : value.map((one: unknown) => asWritten(element, one));
  }
  if (!isMapping(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const [field] = childSchemas(alternatives, key);
      return [key, field === undefined ? one : asWritten(field, one)];
    }),
  );
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'mapping',
  record: 'mapping',
  enum: 'word',
  literal: 'word',
};

function typeOf(schema: z.core.$ZodType): string {
  const kind = fieldKinds.get(schema);
  if (kind !== undefined) return kind.type;
  const inner = innerOf(schema);
  if (inner !== undefined) return typeOf(inner);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'union') return [...new Set(def.options.map((option) => typeOf(option)))].join(' or ');
  if (def.type === 'array') {
    const element = typeOf(def.element);
    return element === 'mapping' ? 'list of mappings' : `list of ${element}`;
  }
  return TYPE_NAMES[def.type] ?? def.type;
}
