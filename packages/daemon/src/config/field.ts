import * as z from 'zod';

/** What a building block tells the documentation generator and the error texts about itself. */
export interface FieldKind {
  /** The name of the type in the documentation: `duration`, `IP address`. */
  readonly type: string;
  /** What is accepted, for people. */
  readonly allowed: string;
  /** What this field narrows of its type's `allowed`, for the documentation, which explains each type once. */
  readonly limits?: string;
  /** The output value as a person would write it in the file; used for defaults. */
  readonly format?: (value: unknown) => unknown;
  /** JSON Schema of the input for editors. */
  readonly jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** The building blocks' self description. zod's registries follow `.describe()` and `.meta()` clones. */
export const fieldKinds: z.core.$ZodRegistry<FieldKind> = z.registry<FieldKind>();

/** Refuses a value from within a `parseText` function: the message says what is wrong with it, `allowed` overrides the kind's. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
  readonly allowed: string | undefined;

  constructor(message: string, allowed?: string) {
    super(message);
    this.allowed = allowed;
  }
}

/** The type of the schemas that are written as text and read as another value. */
export type TextField<T> = z.ZodPipe<z.ZodString, z.ZodTransform<T, string>>;

/** A schema whose input is YAML text and whose output is made by `parse`, which throws `FieldError`. */
export function textField<T>(
  kind: FieldKind,
  parse: (text: string) => T,
  /** Explains a value that is not text, where there is more to say than "expected text". */
  explain?: (input: unknown) => string | undefined,
): TextField<T> {
  const field = z.string({ error: (issue) => explain?.(issue.input) }).transform((text, context): T => {
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof FieldError)) throw error;
      context.issues.push({
        code: 'custom',
        input: text,
        message: error.message,
        params: { allowed: error.allowed ?? kind.allowed },
      });
      return z.NEVER;
    }
  });
  fieldKinds.add(field, kind);
  return field;
}
