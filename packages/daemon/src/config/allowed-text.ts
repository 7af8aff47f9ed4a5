import * as z from 'zod';
import { type FieldKind, fieldKinds } from './field.ts';

/** `a`, `a or b`, `a, b or c`. */
export function listText(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** The building block that a schema is, wrappers aside. */
export function kindOf(schema: z.core.$ZodType): FieldKind | undefined {
  const kind = fieldKinds.get(schema);
  if (kind !== undefined) return kind;
  const inner = innerOf(schema);
  return inner === undefined ? undefined : kindOf(inner);
}

/** The schema under one wrapper that does not change what may be written; undefined when there is none. */
export function innerOf(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'lazy') return def.getter();
  if (def.type === 'pipe') return def.in._zod.def.type === 'transform' ? def.out : def.in;
  return 'innerType' in def ? def.innerType : undefined;
}

/** What a schema accepts, in words for an error or the documentation; undefined where its faults say more themselves. */
export function allowedOf(schema: z.core.$ZodType): string | undefined {
  const kind = fieldKinds.get(schema);
  if (kind !== undefined) return kind.allowed;
  const inner = innerOf(schema);
  if (inner !== undefined) return allowedOf(inner);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'union':
      return alternativesText(def.options);
    case 'enum':
      return listText(Object.values(def.entries).map(String));
    case 'literal':
      return listText(def.values.map(String));
    case 'number':
      return numberText(schema);
    case 'boolean':
      return 'true or false';
    default:
      return undefined;
  }
}

function alternativesText(options: readonly z.core.$ZodType[]): string | undefined {
  const texts = options.map((option) => allowedOf(option));
  const all = options.map((option, index) => texts[index] ?? containerText(option, texts));
  const known = [...new Set(all.filter((text) => text !== undefined))];
  return known.length === 0 ? undefined : known.join(', or ');
}

function containerText(schema: z.core.$ZodType, others: readonly (string | undefined)[]): string | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'string') return 'text';
  if (def.type === 'object' || def.type === 'record') return 'a mapping of keys';
  if (def.type !== 'array') return undefined;
  const element = allowedOf(def.element);
  if (element !== undefined && others.includes(element)) return 'a list of these';
  return element === undefined ? 'a list' : `a list of ${element}`;
}

function numberText(schema: z.core.$ZodType): string {
  if (!(schema instanceof z.ZodNumber)) return 'a number';
  const what = schema.isInt ? 'a whole number' : 'a number';
  const least = limit(schema.minValue);
  const most = limit(schema.maxValue);
  if (least !== undefined && most !== undefined) return `${what} from ${least} to ${most}`;
  if (least !== undefined) return `${what} from ${least}`;
  return most === undefined ? what : `${what} up to ${most}`;
}

/** A limit that was set: infinity and the safe integers are those of every number. */
function limit(value: number | null): number | undefined {
  return value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER ? undefined : value;
}
