import type * as z from 'zod';
import { shortValue } from '../output/printable.ts';
import { allowedOf, listText } from './allowed-text.ts';
import { alternativesOf, childSchemas, valueType } from './schema-alternatives.ts';

/** A fault found by the schema, in words, not yet tied to a place of the file. */
export interface Explained {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly value?: string;
  readonly allowed?: string;
  /** True when a key is missing: the place to show is its parent. */
  readonly isMissing: boolean;
}

const TYPE_NAMES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'a mapping of keys',
  record: 'a mapping of keys',
  null: 'null',
};

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected;
}

/** The value at a path, or undefined. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** Says what is wrong and what would be allowed, for one issue of zod. A union of several shapes may give several. */
export function explainIssue(issue: z.core.$ZodIssue, schema: z.ZodType, whole: unknown): Explained[] {
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const branch = likelyBranch(issue.errors);
    if (branch !== undefined) {
      return branch.flatMap((inner) =>
        explainIssue({ ...inner, path: [...issue.path, ...inner.path] }, schema, whole),
      );
    }
  }
  const value = valueAt(whole, issue.path);
  const isMissing = value === undefined && issue.path.length > 0;
  const shown = value === undefined || isContainer(value) ? {} : { value: shortValue(value) };
  const allowed = customAllowed(issue) ?? allowedAt(schema, issue.path) ?? allowedText(issue);
  return [
    {
      path: issue.path,
      message: isMissing && issue.code !== 'custom' ? 'is required' : messageOf(issue, value),
      ...shown,
      ...(allowed === undefined ? {} : { allowed }),
      isMissing,
    },
  ];
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The one alternative whose type fits the value, or of those the one with the fewest faults; none when no type fits. */
function likelyBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const fitting = branches.filter((branch) =>
    branch.every((issue) => issue.path.length > 0 || !isTypeFault(issue)),
  );
  return fitting.reduce<readonly z.core.$ZodIssue[] | undefined>(
    (best, branch) => (best === undefined || branch.length < best.length ? branch : best),
    undefined,
  );
}

function isTypeFault(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'invalid_union') return likelyBranch(issue.errors) === undefined;
  return issue.code === 'invalid_type' || issue.code === 'invalid_value';
}

/** What may stand at a path, as far as the schema says it in words. */
function allowedAt(schema: z.ZodType, path: readonly PropertyKey[]): string | undefined {
  let schemas: readonly z.core.$ZodType[] = [schema];
  for (const key of path) schemas = schemas.flatMap((one) => childSchemas(alternativesOf(one), key));
  const texts = new Set(schemas.map(allowedOf).filter((text) => text !== undefined));
  return texts.size === 0 ? undefined : [...texts].join(', or ');
}

function customAllowed(issue: z.core.$ZodIssue): string | undefined {
  const allowed = issue.code === 'custom' ? issue.params?.['allowed'] : undefined;
  return typeof allowed === 'string' ? allowed : undefined;
}

function messageOf(issue: z.core.$ZodIssue, value: unknown): string {
  const isDefault = /^(Invalid|Too (big|small))/.test(issue.message);
  if (!isDefault) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return value === null ? 'has no value' : `is ${typeName(valueWord(value))}`;
    case 'too_big':
      return `is too ${sizeWord(issue.origin, 'big')}`;
    case 'too_small':
      return `is too ${sizeWord(issue.origin, 'small')}`;
    case 'invalid_value':
    case 'invalid_union':
    case 'invalid_format':
      return 'is not one of the allowed values';
    case 'not_multiple_of':
      return `is not a multiple of ${issue.divisor}`;
    default:
      return issue.message;
  }
}

function valueWord(value: unknown): string {
  const type = valueType(value);
  if (type === 'mapping') return 'object';
  return type === 'list' ? 'array' : type;
}

function sizeWord(origin: string, direction: 'big' | 'small'): string {
  if (origin === 'string' || origin === 'array') return direction === 'big' ? 'long' : 'short';
  return direction === 'big' ? 'large' : 'small';
}

function allowedText(issue: z.core.$ZodIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return typeName(issue.expected);
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${unitOf(issue.origin)}`;
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin)}`;
    case 'invalid_value':
      return listText(issue.values.map((one) => String(one)));
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex' ? undefined : `a ${issue.format}`;
    case 'invalid_union':
      return unionText(issue);
    default:
      return undefined;
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' elements' : '';
}

function unionText(issue: z.core.$ZodIssueInvalidUnion): string | undefined {
  if (issue.errors.length === 0) {
    const options = 'options' in issue && Array.isArray(issue.options) ? issue.options.map(String) : [];
    return options.length === 0 ? undefined : listText(options);
  }
  const texts = issue.errors.flatMap((branch) =>
    branch.filter((one) => one.path.length === 0).map((one) => customAllowed(one) ?? allowedText(one)),
  );
  return listText([...new Set(texts.filter((text) => text !== undefined))]);
}
