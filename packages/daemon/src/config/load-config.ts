import type * as z from 'zod';
import { shortValue } from '../output/printable.ts';
import { readRegularFile } from '../process/read-regular-file.ts';
import type { CrossFieldFault } from './cross-field-fault.ts';
import { ConfigError, type Diagnostic, type Origin, originText } from './diagnostic.ts';
import { type Explained, explainIssue } from './explain-issue.ts';
import { nearestName } from './nearest-name.ts';
import { applyOverrides, type Override, readEnvironment, readFlags } from './override.ts';
import {
  type Alternatives,
  alternativesOf,
  child,
  isMapping,
  knownKeys,
  matching,
  takesMapping,
} from './schema-alternatives.ts';
import { MAX_CONFIG_SIZE, YamlSource } from './yaml-source.ts';

/** What `loadConfig` reads. */
export interface LoadConfigOptions<S extends z.ZodType> {
  /** Schema of the whole document; `apiVersion` and `kind` may be in it or not. */
  readonly schema: S;
  /** Path of the file; in messages also when `text` is given. */
  readonly file: string;
  /** The text of the file, instead of reading it. */
  readonly text?: string;
  /** Flags that are configuration keys: `{'api.socket': '/run/x'}`, or nested. */
  readonly argv?: Readonly<Record<string, unknown>>;
  /** Variables `BGP_LB_A_B_C`; others are not looked at. */
  readonly env?: NodeJS.ProcessEnv;
  readonly apiVersion: string;
  readonly kind: string;
  /** Looks for what the configuration contradicts on this host, once it is good by itself. */
  readonly onHost?: ((config: z.output<S>) => readonly CrossFieldFault[]) | undefined;
}

/** A configuration that passed. */
export interface LoadedConfig<T> {
  readonly config: T;
  /** The text of the file as it was read. */
  readonly text: string;
  /** Where the value of a path (`neighbors.0.asn`) came from: `file:line:column`, a flag, a variable, or `default`. */
  readonly origin: (path: string) => string;
}

/**
 * Reads a configuration: file, then environment, then flags, the later winning, all checked against one schema. Throws
 * `ConfigError` with every fault that could be found.
 */
export function loadConfig<S extends z.ZodType>(options: LoadConfigOptions<S>): LoadedConfig<z.output<S>> {
  const text = options.text ?? readText(options.file);
  const source = new YamlSource(options.file, text);
  if (source.problems.length > 0) throw new ConfigError(source.problems);

  const root = alternativesOf(options.schema);
  const environment = readEnvironment(root, options.env ?? {});
  const flags = readFlags(root, options.argv ?? {});
  const overrides = [...environment.values, ...flags.values];
  const found: Diagnostic[] = [...environment.diagnostics, ...flags.diagnostics];

  if ((source.value ?? undefined) === undefined && overrides.length === 0) {
    const { apiVersion, kind } = options;
    const message = 'has no configuration in it';
    const allowed = `keys, of which the first are apiVersion: ${apiVersion} and kind: ${kind}`;
    throw new ConfigError([...found, place(source, [], [], { message, allowed })]);
  }
  const base = source.value ?? {};
  if (!isMapping(base)) {
    throw new ConfigError([
      ...found,
      place(source, [], [], { message: 'is not a mapping of keys', allowed: 'keys' }),
    ]);
  }
  const withEnvironment = applyOverrides(base, environment.values);
  const withFlags = applyOverrides(withEnvironment.value, flags.values);
  found.push(...withEnvironment.diagnostics, ...withFlags.diagnostics);

  const value = isMapping(withFlags.value) ? { ...withFlags.value } : {};
  const heading = checkHeading(value, options, source, overrides);
  if (heading.isForeign) throw new ConfigError(heading.diagnostics);
  found.push(...heading.diagnostics);
  const { keys } = knownKeys(root);
  for (const name of ['apiVersion', 'kind']) if (!keys.includes(name)) delete value[name];

  const cleaned = withoutUnknown(root, value, [], (path, known) => {
    const name = String(path.at(-1));
    const nearest = nearestName(name, known);
    const message = nearest === undefined ? 'is not a known key' : `is not a known key (${nearest}?)`;
    found.push(place(source, overrides, path, { message, allowed: known.join(', '), isKey: true }));
  });
  const result = options.schema.safeParse(cleaned);
  if (result.error !== undefined) {
    const explained = result.error.issues.flatMap((issue) => explainIssue(issue, options.schema, cleaned));
    found.push(...explained.map((one) => place(source, overrides, one.path, one)));
  }
  if (found.length > 0 || !result.success) throw new ConfigError(found);
  const onHost = options.onHost?.(result.data) ?? [];
  if (onHost.length > 0) {
    throw new ConfigError(
      onHost.map((one) => place(source, overrides, one.path, { ...one, value: shortValue(one.value) })),
    );
  }
  return { config: result.data, text, origin: (path) => originOf(source, overrides, path) };
}

/** The text of a configuration file. Throws `ConfigError` when it cannot be read or is too large. */
function readText(file: string): string {
  const fault = (message: string): ConfigError =>
    new ConfigError([{ origin: { kind: 'file', file, line: 0, column: 0 }, path: '', message }]);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readRegularFile(file, MAX_CONFIG_SIZE));
  } catch (error) {
    throw fault(`cannot be read: ${readFault(error)}`);
  }
}

function readFault(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  if (code === 'ENOENT') return 'there is no such file (ENOENT)';
  if (code === 'EACCES') return 'permission denied (EACCES)';
  if (code === 'EISDIR') return 'it is a folder (EISDIR)';
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8 text' : error.message;
}

/** `apiVersion` and `kind`. A document of another program is foreign: its other keys are not worth a word. */
function checkHeading(
  value: Record<string, unknown>,
  options: { readonly apiVersion: string; readonly kind: string },
  source: YamlSource,
  overrides: readonly Override[],
): { isForeign: boolean; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  let isForeign = false;
  for (const name of ['apiVersion', 'kind'] as const) {
    const given = value[name];
    const wanted = options[name];
    if (given === wanted) continue;
    const isMissing = given === undefined;
    isForeign ||= !isMissing;
    const message = isMissing ? 'is required' : 'is not what this program reads';
    const shown = isMissing ? {} : { value: shortValue(given) };
    diagnostics.push(place(source, overrides, [name], { message, allowed: wanted, isMissing, ...shown }));
    // It is reported here; the schema need not find it again.
    value[name] = wanted;
  }
  return { isForeign, diagnostics };
}

type Fault = Omit<Explained, 'path' | 'isMissing'> & {
  readonly isMissing?: boolean;
  readonly isKey?: boolean;
};

/** Ties a fault to the flag, the variable or the line that caused it. */
function place(
  source: YamlSource,
  overrides: readonly Override[],
  path: readonly PropertyKey[],
  fault: Fault,
): Diagnostic {
  const origin = placeOf(source, overrides, path, fault.isKey === true);
  return {
    origin,
    path: path.map(String).join('.'),
    message: fault.message,
    ...(fault.value === undefined ? {} : { value: fault.value }),
    ...(fault.allowed === undefined || fault.allowed === '' ? {} : { allowed: fault.allowed }),
    ...source.lineOf(origin),
  };
}

function placeOf(
  source: YamlSource,
  overrides: readonly Override[],
  path: readonly PropertyKey[],
  isKey: boolean,
): Origin {
  const above = overriding(overrides, path);
  if (above !== undefined) return above.origin;
  if (!source.has(path)) {
    // A mapping or list that only flags or variables brought about: the last of them is the one to look at.
    const parent = path.slice(0, -1);
    const below = overrides.findLast((one) => startsWith(one.path, parent));
    if (parent.length > 0 && below !== undefined && !source.has(parent)) return below.origin;
  }
  return isKey ? source.keyOrigin(path) : source.valueOrigin(path);
}

/** The strongest override at or above a path. */
function overriding(overrides: readonly Override[], path: readonly PropertyKey[]): Override | undefined {
  return overrides.findLast((one) => startsWith(path, one.path));
}

function startsWith(path: readonly PropertyKey[], start: readonly PropertyKey[]): boolean {
  return start.length <= path.length && start.every((key, index) => String(path[index]) === String(key));
}

function originOf(source: YamlSource, overrides: readonly Override[], text: string): string {
  const path = text === '' ? [] : text.split('.');
  const override = overriding(overrides, path);
  if (override !== undefined) return originText(override.origin);
  return source.has(path) ? originText(source.valueOrigin(path)) : 'default';
}

/** A copy of the value without the keys that no alternative knows, each of which is reported. */
function withoutUnknown(
  alternatives: Alternatives,
  value: unknown,
  path: readonly PropertyKey[],
  report: (path: readonly PropertyKey[], known: readonly string[]) => void,
): unknown {
  if (Array.isArray(value)) {
    return value.map((one: unknown, index) =>
      withoutUnknown(child(alternatives, index), one, [...path, index], report),
    );
  }
  const fitting = matching(alternatives, value);
  if (!isMapping(value) || !takesMapping(fitting)) return value;
  const { keys, isOpen } = knownKeys(fitting);
  const result: Record<string, unknown> = {};
  for (const [key, one] of Object.entries(value)) {
    if (!isOpen && !keys.includes(key)) report([...path, key], keys);
    else result[key] = withoutUnknown(child(fitting, key), one, [...path, key], report);
  }
  return result;
}
