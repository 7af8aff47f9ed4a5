import type * as z from 'zod';

/**
 * A rule across the fields of a spec, in CEL for the API server and as a function for one that has no CEL (before Kubernetes 1.25),
 * where the controller says the sentence in a condition. A test evaluates both on the same objects.
 */
export interface SpecRule<T> {
  /** CEL; with `oldSelf` it is asked of changes only. */
  readonly rule: string;
  readonly message: string;
  /** The same of a spec whose defaults are in it. Not there for rules of changes. */
  readonly holds?: (self: T) => boolean;
}

/** The schema with its rules, as the CRD has them. */
export function withRules<T>(
  schema: z.ZodType<T, unknown>,
  rules: readonly SpecRule<T>[],
): z.ZodType<T, unknown> {
  const validations = rules.map(({ rule, message }) => ({ rule, message }));
  return schema.meta({ ...schema.meta(), 'x-kubernetes-validations': validations });
}

/** Sentences of the rules that a spec breaks. */
export function brokenRules<T>(rules: readonly SpecRule<T>[], self: T): readonly string[] {
  return rules.filter(({ holds }) => holds?.(self) === false).map(({ message }) => message);
}
