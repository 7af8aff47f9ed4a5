import { isIPv4, isIPv6 } from 'node:net';
import { evaluate } from '@marcbachmann/cel-js';
import { isJsonObject } from '../kubernetes-object.ts';

/** A structural schema (apiextensions.k8s.io/v1). */
export interface ResourceSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, ResourceSchema>>;
  readonly additionalProperties?: ResourceSchema | boolean;
  readonly items?: ResourceSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly ResourceSchema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string }[];
}

/** A value without the fields that the schema does not know, and with its defaults: what an API server stores. */
export function prunedWithDefaults(schema: ResourceSchema, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((one) => prunedWithDefaults(items, one));
  }
  if (!isJsonObject(value)) return value;
  const { properties = {}, additionalProperties } = schema;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.properties === undefined;
  const given = Object.entries(value).flatMap(([key, one]) => {
    const child = properties[key];
    if (child !== undefined) return [[key, prunedWithDefaults(child, one)]];
    if (isJsonObject(additionalProperties))
      return [[key, prunedWithDefaults(additionalProperties as ResourceSchema, one)]];
    return keepsAll ? [[key, one]] : [];
  });
  const defaults = Object.entries(properties)
    .filter(([key, child]) => child.default !== undefined && value[key] === undefined)
    .map(([key, child]) => [key, prunedWithDefaults(child, structuredClone(child.default))]);
  return Object.fromEntries([...given, ...defaults]);
}

/** What is wrong, in the words of an API server. @param old the value before, for rules of changes */
export function schemaFaults(schema: ResourceSchema, value: unknown, old: unknown, path: string): string[] {
  if (value === undefined) return [];
  const invalid = (message: string): string => `${path}: Invalid value: ${shown(value)}: ${message}`;
  const typeFault = faultOfType(schema, value);
  if (typeFault !== undefined)
    return [invalid(`${path} in body must be of type ${schema.type}: "${typeFault}"`)];
  return [
    ...limitFaults(schema, value).map((message) => invalid(`${path} in body ${message}`)),
    ...(schema.anyOf !== undefined && !schema.anyOf.some((one) => limitFaults(one, value).length === 0)
      ? [invalid(`${path} in body must validate at least one schema (anyOf)`)]
      : []),
    ...listFaults(schema, value, old, path),
    ...objectFaults(schema, value, old, path),
    ...ruleFaults(schema, value, old).map((message) => `${path}: Invalid value: "object": ${message}`),
  ];
}

function shown(value: unknown): string {
  return typeof value === 'object' ? '"object"' : JSON.stringify(value);
}

function faultOfType({ type }: ResourceSchema, value: unknown): string | undefined {
  if (type === undefined) return undefined;
  const actual = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
  const isRight =
    type === actual ||
    (type === 'integer' && Number.isInteger(value)) ||
    (type === 'number' && actual === 'number');
  return isRight ? undefined : actual;
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  ipv4: isIPv4,
  ipv6: isIPv6,
  'date-time': (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text),
};

function limitFaults(schema: ResourceSchema, value: unknown): string[] {
  const outside =
    schema.enum === undefined || schema.enum.includes(value)
      ? []
      : [`should be one of [${schema.enum.join(' ')}]`];
  if (typeof value === 'string') return [...outside, ...textFaults(schema, value)];
  if (typeof value === 'number') return [...outside, ...numberFaults(schema, value)];
  if (!Array.isArray(value)) return outside;
  const { minItems = 0, maxItems = value.length } = schema;
  if (value.length > maxItems) return [...outside, `must have at most ${maxItems} items`];
  return value.length < minItems ? [...outside, `should have at least ${minItems} items`] : outside;
}

function textFaults({ minLength = 0, maxLength, pattern, format }: ResourceSchema, text: string): string[] {
  const faults: string[] = [];
  if (text.length < minLength) faults.push(`should be at least ${minLength} chars long`);
  if (maxLength !== undefined && text.length > maxLength)
    faults.push(`should be at most ${maxLength} chars long`);
  if (pattern !== undefined && !new RegExp(pattern).test(text)) faults.push(`should match '${pattern}'`);
  if (format !== undefined && FORMATS[format]?.(text) === false) faults.push(`must be of type ${format}`);
  return faults;
}

function numberFaults({ minimum, maximum }: ResourceSchema, value: number): string[] {
  const faults: string[] = [];
  if (minimum !== undefined && value < minimum) faults.push(`should be greater than or equal to ${minimum}`);
  if (maximum !== undefined && value > maximum) faults.push(`should be less than or equal to ${maximum}`);
  return faults;
}

function listFaults(schema: ResourceSchema, value: unknown, old: unknown, path: string): string[] {
  const { items } = schema;
  if (!Array.isArray(value) || items === undefined) return [];
  const keys = value.map((one) => elementKey(schema, one));
  const twice = keys.filter((key, index) => key !== undefined && keys.indexOf(key) !== index);
  return [
    ...twice.map((key) => `${path}: Duplicate value: ${key}`),
    ...value.flatMap((one, index) => {
      const before = Array.isArray(old)
        ? old.find((other) => elementKey(schema, other) === keys[index])
        : undefined;
      return schemaFaults(items, one, keys[index] === undefined ? undefined : before, `${path}[${index}]`);
    }),
  ];
}

/** What an element of a list with `x-kubernetes-list-type` map or set is known by. */
export function elementKey(schema: ResourceSchema | undefined, element: unknown): string | undefined {
  const type = schema?.['x-kubernetes-list-type'];
  if (type === 'set') return JSON.stringify(element);
  if (type !== 'map' || !isJsonObject(element)) return undefined;
  const keys = schema?.['x-kubernetes-list-map-keys'] ?? [];
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, element[key]])));
}

function objectFaults(schema: ResourceSchema, value: unknown, old: unknown, path: string): string[] {
  if (!isJsonObject(value)) return [];
  const { required = [], properties = {}, additionalProperties } = schema;
  const missing = required
    .filter((key) => value[key] === undefined)
    .map((key) => `${path}.${key}: Required value`);
  const inner = Object.entries(value).flatMap(([key, one]) => {
    const extra = isJsonObject(additionalProperties) ? (additionalProperties as ResourceSchema) : undefined;
    const child = properties[key] ?? extra;
    const before = isJsonObject(old) ? old[key] : undefined;
    return child === undefined ? [] : schemaFaults(child, one, before, path === '' ? key : `${path}.${key}`);
  });
  return [...missing, ...inner];
}

/** Rules with `oldSelf` are asked of changes only. */
function ruleFaults(schema: ResourceSchema, self: unknown, oldSelf: unknown): string[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule, message }) => {
    if (rule.includes('oldSelf') && oldSelf === undefined) return [];
    return evaluate(rule, { self, oldSelf }) === true ? [] : [message ?? `failed rule: ${rule}`];
  });
}
