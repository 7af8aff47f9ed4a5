import * as z from 'zod';

type Json = Readonly<Record<string, unknown>>;

/**
 * The schema of a CRD (apiextensions.k8s.io/v1, "structural schema") of a zod schema. What structural schemas forbid is taken out:
 * `additionalProperties: false` beside properties; limits of safe integers that nothing asked for become a format.
 */
export function structuralSchema(schema: z.ZodType): Json {
  return clean(z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0' }) as Json);
}

function clean(schema: Json): Json {
  const { properties, items, additionalProperties, $schema: _, minimum, maximum, ...rest } = schema;
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith('~')));
  const isSafe = minimum === Number.MIN_SAFE_INTEGER;
  return {
    ...kept,
    ...(minimum === undefined || isSafe ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...(schema['type'] === 'integer' ? { format: 'int64' } : {}),
    ...(isJson(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, one]) => [key, clean(one as Json)]),
          ),
        }
      : {}),
    ...(isJson(items) ? { items: clean(items) } : {}),
    ...(isJson(additionalProperties) ? { additionalProperties: clean(additionalProperties) } : {}),
  };
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
