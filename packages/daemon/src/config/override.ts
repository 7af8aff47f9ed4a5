import { parse } from 'yaml';
import type { Diagnostic, Origin } from './diagnostic.ts';
import { nearestName } from './nearest-name.ts';
import {
  type Alternatives,
  acceptedTypes,
  child,
  isMapping,
  knownKeys,
  valueType,
} from './schema-alternatives.ts';

/** One value given by a flag or an environment variable. */
export interface Override {
  readonly origin: Origin;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The overrides that could be read, and what was wrong with the others. */
export interface Overrides {
  readonly values: readonly Override[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The longest list that an index in a flag or variable may make. */
const MAX_INDEX = 1023;

/** Variables with the prefix that are not configuration keys: the file's path and the client's socket. */
export const RESERVED_VARIABLES: readonly string[] = ['BGP_LB_CONFIG', 'BGP_LB_SOCKET'];

/** The prefix of every environment variable. */
const VARIABLE_PREFIX = 'BGP_LB_';

/**
 * Kubernetes gives each container variables for every Service of its namespace (service links). A Service named `bgp-lb` or
 * `bgp-lb-router` makes these, and must not keep the daemon from starting.
 */
const SERVICE_LINK =
  /_SERVICE_HOST$|_SERVICE_PORT(_[A-Z0-9_]+)?$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/;
const SERVICE_LINK_VALUE = /^(tcp|udp|sctp):\/\//;

/** `serverName` as it stands in a variable: `SERVER_NAME`. */
function variableSegment(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toUpperCase();
}

/** The variable of a path: `['apiServer', 'serverName']` is `BGP_LB_API_SERVER_SERVER_NAME`. */
export function variableName(path: readonly string[]): string {
  return `${VARIABLE_PREFIX}${path.map(variableSegment).join('_')}`;
}

/** Reads `--a.b.c` flags: names with dots, or nested objects as yargs makes them of dots. */
export function readFlags(root: Alternatives, flags: Readonly<Record<string, unknown>>): Overrides {
  const values: Override[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const [name, value] of flatten(flags, '')) {
    const origin: Origin = { kind: 'flag', name };
    const path = name.split('.');
    const unknown = firstUnknown(root, path);
    if (unknown !== undefined) {
      diagnostics.push({ origin, path: '', ...suggest(unknown) });
    } else if (Array.isArray(value)) {
      diagnostics.push({
        origin,
        path: '',
        message: 'is given more than once',
        value: JSON.stringify(value),
      });
    } else {
      values.push({ origin, path, value: scalar(at(root, path), value) });
    }
  }
  return { values, diagnostics };
}

function* flatten(flags: Readonly<Record<string, unknown>>, before: string): Generator<[string, unknown]> {
  for (const [key, value] of Object.entries(flags)) {
    const name = before === '' ? key : `${before}.${key}`;
    if (isMapping(value)) yield* flatten(value, name);
    else if (value !== undefined) yield [name, value];
  }
}

/** Reads the `BGP_LB_*` variables of an environment. */
export function readEnvironment(root: Alternatives, environment: NodeJS.ProcessEnv): Overrides {
  const values: Override[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of Object.keys(environment).sort()) {
    const text = environment[name];
    if (!name.startsWith(VARIABLE_PREFIX) || text === undefined || RESERVED_VARIABLES.includes(name))
      continue;
    const paths = resolveVariable(root, name.slice(VARIABLE_PREFIX.length).split('_'));
    const origin: Origin = { kind: 'environment', name };
    const [path, other] = paths;
    if (SERVICE_LINK_VALUE.test(text) || (path === undefined && SERVICE_LINK.test(name))) continue;
    if (path === undefined) {
      diagnostics.push({
        origin,
        path: '',
        message: unknownVariable(root, name),
      });
    } else if (other !== undefined) {
      const meant = `it may mean ${path.join('.')} or ${other.join('.')}`;
      diagnostics.push({ origin, path: '', message: `is ambiguous: ${meant}; use the file or a flag` });
    } else {
      values.push({ origin, path, value: scalar(at(root, path), text) });
    }
  }
  return { values, diagnostics };
}

/** All paths whose variable has these parts. Recursion is bounded by the depth of the schema. */
function resolveVariable(alternatives: Alternatives, parts: readonly string[]): string[][] {
  if (parts.length === 0) return alternatives.length > 0 ? [[]] : [];
  const found: string[][] = [];
  const follow = (key: string, used: number): void => {
    for (const rest of resolveVariable(child(alternatives, key), parts.slice(used)))
      found.push([key, ...rest]);
  };
  for (const key of knownKeys(alternatives).keys) {
    const own = variableSegment(key).split('_');
    if (own.every((part, index) => parts[index] === part)) follow(key, own.length);
  }
  const [first] = parts;
  if (first !== undefined && isIndex(first) && acceptedTypes(alternatives).has('list')) follow(first, 1);
  return found;
}

function isIndex(text: string): boolean {
  return /^(0|[1-9]\d*)$/.test(text) && Number(text) <= MAX_INDEX;
}

function at(root: Alternatives, path: readonly string[]): Alternatives {
  return path.reduce<Alternatives>((alternatives, key) => child(alternatives, key), root);
}

interface UnknownName {
  readonly before: readonly string[];
  readonly name: string;
  readonly known: readonly string[];
  readonly after: readonly string[];
}

function firstUnknown(root: Alternatives, path: readonly string[]): UnknownName | undefined {
  let alternatives = root;
  for (const [index, name] of path.entries()) {
    const next = child(alternatives, name);
    if (next.length === 0 || (isListOnly(alternatives) && !isIndex(name))) {
      const { keys } = knownKeys(alternatives);
      return { before: path.slice(0, index), name, known: keys, after: path.slice(index + 1) };
    }
    alternatives = next;
  }
  return undefined;
}

function isListOnly(alternatives: Alternatives): boolean {
  const types = acceptedTypes(alternatives);
  return types.has('list') && !types.has('mapping');
}

function suggest(unknown: UnknownName): { message: string; allowed?: string } {
  const { before, name, known, after } = unknown;
  const flag = (key: string, rest: readonly string[]): string => `--${[...before, key, ...rest].join('.')}`;
  const nearest = nearestName(name, known);
  if (nearest !== undefined) return { message: `is not a known flag (${flag(nearest, after)}?)` };
  const message = 'is not a known flag';
  return known.length === 0
    ? { message }
    : { message, allowed: known.map((key) => flag(key, [])).join(', ') };
}

function unknownVariable(root: Alternatives, name: string): string {
  const indices = name.match(/\d+/g) ?? [];
  const known = [...RESERVED_VARIABLES, ...variablesBelow(root, [], 0)].map((candidate) => {
    let next = 0;
    return candidate.replace(/#/g, () => indices[next++] ?? '0');
  });
  const nearest = nearestName(name, known);
  return nearest === undefined ? 'is not a known variable' : `is not a known variable (${nearest}?)`;
}

const MAX_DEPTH = 8;

/** Every variable name below a place, with `#` for a list's index. */
function* variablesBelow(
  alternatives: Alternatives,
  path: readonly string[],
  depth: number,
): Generator<string> {
  if (depth > 0) yield path.length === 0 ? VARIABLE_PREFIX : patternName(path);
  if (depth >= MAX_DEPTH) return;
  for (const key of knownKeys(alternatives).keys) {
    yield* variablesBelow(child(alternatives, key), [...path, key], depth + 1);
  }
  if (acceptedTypes(alternatives).has('list')) {
    yield* variablesBelow(child(alternatives, '0'), [...path, '#'], depth + 1);
  }
}

function patternName(path: readonly string[]): string {
  return `${VARIABLE_PREFIX}${path.map((key) => (key === '#' ? key : variableSegment(key))).join('_')}`;
}

/** The text of a flag or variable as the YAML value that the schema takes at its place. */
function scalar(alternatives: Alternatives, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const types = acceptedTypes(alternatives);
  if (types.has('number') && /^-?\d+$/.test(value)) return Number(value);
  const other = yamlValue(value);
  const otherType = valueType(other);
  // A fraction where text is possible too stays text: an AS number in asdot (1.10) would lose its last digit.
  if (types.has('string') && (otherType === 'number' || !types.has(otherType))) return value;
  return otherType === 'string' || types.size === 0 || types.has(otherType) ? other : value;
}

function yamlValue(text: string): unknown {
  try {
    return parse(text, { version: '1.2', logLevel: 'silent', maxAliasCount: 0 });
  } catch {
    return text;
  }
}

/**
 * The value with the overrides put in, each as a replacement of one place. Lists can be changed element by element and grow by
 * one at the end; an index past that is a fault.
 */
export function applyOverrides(
  value: unknown,
  overrides: readonly Override[],
): { value: unknown; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  let result = value;
  for (const override of [...overrides].sort(byPath)) {
    const next = put(result, override.path, override.value);
    if (next.gap === undefined) result = next.value;
    else diagnostics.push({ origin: override.origin, path: '', message: next.gap });
  }
  return { value: result, diagnostics };
}

function byPath(a: Override, b: Override): number {
  for (const [index, segment] of a.path.entries()) {
    const other = b.path[index];
    if (other === undefined) return 1;
    if (segment === other) continue;
    if (isIndex(segment) && isIndex(other)) return Number(segment) - Number(other);
    return segment < other ? -1 : 1;
  }
  return a.path.length - b.path.length;
}

function put(into: unknown, path: readonly string[], value: unknown): { value: unknown; gap?: string } {
  const [key, ...rest] = path;
  if (key === undefined) return { value };
  if (isIndex(key) && !isMapping(into)) {
    const list: unknown[] = Array.isArray(into) ? [...into] : [];
    const index = Number(key);
    if (index > list.length)
      return { value: into, gap: `leaves a gap: the list has ${list.length} elements before it` };
    const next = put(list[index], rest, value);
    list[index] = next.value;
    return { ...next, value: list };
  }
  const mapping: Record<string, unknown> = isMapping(into) ? { ...into } : {};
  const next = put(Object.hasOwn(mapping, key) ? mapping[key] : undefined, rest, value);
  mapping[key] = next.value;
  return { ...next, value: mapping };
}
