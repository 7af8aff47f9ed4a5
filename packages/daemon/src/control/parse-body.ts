import type * as z from 'zod';
import { explainIssue } from '../config/explain-issue.ts';
import { ControlError } from './control-route.ts';

/** The body of a request as its schema has it. Throws `ControlError` 400 that names each fault, the value and what is allowed. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => `${key}: is not a known key`);
    return explainIssue(issue, schema, body).map(({ path, message, value, allowed }) => {
      const place = path.length === 0 ? 'the body' : path.map(String).join('.');
      const shown = value === undefined ? '' : `, got ${value}`;
      return `${place}: ${message}${shown}${allowed === undefined || allowed === '' ? '' : `; allowed: ${allowed}`}`;
    });
  });
  throw new ControlError(400, faults.join('; '));
}
