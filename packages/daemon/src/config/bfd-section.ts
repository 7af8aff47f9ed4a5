import * as z from 'zod';
import { bfdAuthenticationKeys } from './bfd-authentication.ts';
import { bfdTimingDefaults } from './bfd-timing.ts';
import { duration } from './duration.ts';

type Interval = z.ZodOptional<ReturnType<typeof duration>>;

/** Keys of `bfd`, for a neighbor of one of the daemons. */
export type BfdSection = z.ZodObject<
  {
    readonly transmitInterval: Interval;
    readonly receiveInterval: Interval;
    readonly detectMultiplier: z.ZodOptional<z.ZodInt>;
    readonly strict: z.ZodDefault<z.ZodBoolean>;
    readonly multihop: z.ZodOptional<z.ZodBoolean>;
  } & typeof bfdAuthenticationKeys,
  z.core.$strict
>;

/**
 * The section `bfd` of a neighbor (RFC 5880).
 * @param other what the neighbor is called: `router`
 * @param strict what `strict` does
 */
export function bfdSection(other: string, strict: string): BfdSection {
  const interval = (): Interval => duration({ min: 10, max: 60_000 }).optional();
  return z.strictObject({
    transmitInterval: interval().describe(
      `Time between our packets; the ${other} may ask for more. ${bfdTimingDefaults.transmitInterval}`,
    ),
    receiveInterval: interval().describe(
      `Time that is asked of the ${other} between its packets. A silence of so many as the ${other}'s multiplier is its death. ${bfdTimingDefaults.receiveInterval}`,
    ),
    detectMultiplier: z
      .int()
      .min(1)
      .max(255)
      .optional()
      .describe(
        `How many of our packets may be lost in a row before the ${other} takes us for dead. ${bfdTimingDefaults.detectMultiplier}`,
      ),
    strict: z.boolean().default(false).describe(strict),
    multihop: z
      .boolean()
      .optional()
      .describe(
        `The ${other} is not on link: RFC 5883, port 4784. Default: where \`ttlSecurityHops\` is more than 1.`,
      ),
    ...bfdAuthenticationKeys,
  });
}
