import * as z from 'zod';
import { fieldKinds } from './field.ts';

const LARGEST_ASN = 4_294_967_295;
const AS_TRANS = 23456;
const ASN_ALLOWED = `1 to ${LARGEST_ASN - 1} without 23456 and 65535, or asdot in quotes like '64512.1'`;

/** The type of the schemas that are written as a number (or as text) and read as a number. */
export type NumberField = z.ZodPipe<
  z.ZodUnion<readonly [z.ZodNumber, z.ZodString]>,
  z.ZodTransform<number, number | string>
>;

/** A schema for numbers that are read by `read`, which gives an error text for what it refuses. */
function numberField(
  kind: { type: string; allowed: string; jsonSchema: z.core.JSONSchema.BaseSchema },
  read: (input: unknown) => number | string,
): NumberField {
  const field = z
    .union([z.number(), z.string()], {
      error: (issue) => (issue.input === undefined ? 'is required' : `is not an ${kind.type}`),
    })
    .transform((input, context) => {
      const result = read(input);
      if (typeof result === 'number') return result;
      context.issues.push({ code: 'custom', input, message: result, params: { allowed: kind.allowed } });
      return z.NEVER;
    });
  fieldKinds.add(field, kind);
  return field;
}

/** An AS number: asplain (RFC 5396), or asdot in quotes, since YAML reads 1.10 as the number 1.1. Reserved ones are refused. */
export function asNumber(): NumberField {
  return numberField(
    {
      type: 'AS number',
      allowed: ASN_ALLOWED,
      jsonSchema: { anyOf: [{ type: 'integer', minimum: 1, maximum: LARGEST_ASN - 1 }, { type: 'string' }] },
    },
    (input) => (typeof input === 'number' ? checkAsn(input) : readAsnText(String(input))),
  );
}

function readAsnText(text: string): number | string {
  const asdot = /^(\d{1,5})\.(\d{1,5})$/.exec(text);
  if (asdot !== null) {
    const high = Number(asdot[1]);
    const low = Number(asdot[2]);
    return high > 65535 || low > 65535 ? 'is not an AS number' : checkAsn(high * 65536 + low);
  }
  return /^\d{1,10}$/.test(text) ? checkAsn(Number(text)) : 'is not an AS number';
}

function checkAsn(value: number): number | string {
  if (!Number.isInteger(value)) return 'is a fraction (asdot needs quotes)';
  if (value === 0) return 'AS 0 is reserved (RFC 7607)';
  if (value === AS_TRANS) return 'AS 23456 is AS_TRANS (RFC 6793) and names no network';
  if (value === 65_535 || value === LARGEST_ASN) return `AS ${value} is reserved (RFC 7300)`;
  return value > 0 && value <= LARGEST_ASN ? value : 'is not an AS number';
}

/** A TCP or UDP port, 1 to 65535. */
export function port(): z.ZodNumber {
  const field = z.int().min(1).max(65535);
  fieldKinds.add(field, {
    type: 'port',
    allowed: 'a port, 1 to 65535',
    jsonSchema: { type: 'integer', minimum: 1, maximum: 65535 },
  });
  return field;
}
