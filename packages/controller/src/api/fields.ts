import * as z from 'zod';

/** A list whose elements are known by their names (server-side apply merges them so). */
export function byName<T extends z.ZodType>(element: T, most: number, ...keys: string[]): z.ZodArray<T> {
  return z
    .array(element)
    .max(most)
    .meta({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys.length === 0 ? ['name'] : keys,
    });
}

/** A list of texts without repetition. */
export function setOf(most: number): z.ZodArray<z.ZodString> {
  return z.array(z.string().min(1).max(317)).max(most).meta({ 'x-kubernetes-list-type': 'set' });
}

/** IPv4 or IPv6. By `format`, which every API server knows, and not by the function isIP of CEL, which comes with 1.31. */
export function address(): z.ZodString {
  return z.string().meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });
}

export function name(): z.ZodString {
  return z.string().min(1).max(253);
}

export function port(): z.ZodInt {
  return z.int().min(1).max(65_535);
}

/** `300ms`, `9s`, `2m`, `1h`. */
export function durationText(): z.ZodString {
  return z
    .string()
    .max(20)
    .regex(/^[0-9]+(\.[0-9]+)?(ms|s|m|h)$/);
}

/** metav1.Time. */
export function time(): z.ZodString {
  return z.string().meta({ format: 'date-time' });
}

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly observedGeneration?: number | undefined;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

const condition: z.ZodType<Condition> = z.object({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).optional(),
  lastTransitionTime: time(),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/),
  message: z.string().max(32_768),
});

export const conditions = (): z.ZodOptional<z.ZodArray<z.ZodType<Condition>>> =>
  byName(condition, 16, 'type').optional().describe('What is so and why.');
