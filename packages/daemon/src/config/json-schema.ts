import * as z from 'zod';
import { kindOf } from './allowed-text.ts';
import { asWritten } from './config-key.ts';
import { fieldKinds } from './field.ts';

/** What heads a JSON Schema. */
export interface JsonSchemaHeading {
  readonly id: string;
  readonly title: string;
  /** Put in as the only allowed values of the document's first keys, when the schema does not have them itself. */
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * The JSON Schema (2020-12) of what a file may contain, for editors: the input side of the schema, with the building blocks' own
 * patterns, defaults as one writes them, and unknown keys refused as `loadConfig` refuses them.
 */
export function jsonSchema(schema: z.ZodType, heading: JsonSchemaHeading): Record<string, unknown> {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: json }) => {
      const kind = fieldKinds.get(zodSchema);
      if (kind !== undefined) {
        for (const key of ['type', 'anyOf', 'minimum', 'maximum'] as const) delete json[key];
        Object.assign(json, kind.jsonSchema);
      }
      const { def } = zodSchema._zod;
      if (def.type === 'default' || def.type === 'prefault') {
        json.default = plain(asWritten(zodSchema, def.defaultValue));
        if (kindOf(zodSchema) === undefined && isEmpty(json.default)) delete json.default;
      }
      if (def.type === 'object' && json.additionalProperties === undefined) json.additionalProperties = false;
    },
  });
  const { $schema, properties, required, ...rest } = made;
  return {
    $schema,
    $id: heading.id,
    title: heading.title,
    ...rest,
    properties: { apiVersion: { const: heading.apiVersion }, kind: { const: heading.kind }, ...properties },
    required: [...new Set(['apiVersion', 'kind', ...(required ?? [])])],
  };
}

/** Only what JSON can say. */
function plain(value: unknown): z.core.JSONSchema.BaseSchema['default'] {
  return JSON.parse(JSON.stringify(value));
}

function isEmpty(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}
