import type * as z from 'zod';

/** A rule between several keys that a configuration breaks. */
export interface CrossFieldFault {
  /** The key to name. */
  readonly path: readonly (string | number)[];
  readonly message: string;
  readonly value: unknown;
  readonly allowed: string;
}

/** For `superRefine`: reports what a function that knows the rules between keys has found. */
export function checkAcrossFields<T>(
  find: (config: T) => readonly CrossFieldFault[],
): (config: T, context: z.core.$RefinementCtx<T>) => void {
  return (config, context) => {
    for (const { path, message, value, allowed } of find(config)) {
      context.addIssue({ code: 'custom', path: [...path], message, input: value, params: { allowed } });
    }
  };
}
