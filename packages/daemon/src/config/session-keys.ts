import * as z from 'zod';
import { withoutCapabilities } from './capability-switches.ts';
import { duration } from './duration.ts';
import { filePath } from './file-path.ts';

/** Keys of a BGP session that neighbors of both daemons have. */
export const sessionKeys: {
  readonly passwordFile: z.ZodOptional<ReturnType<typeof filePath>>;
  readonly holdTime: z.ZodDefault<ReturnType<typeof duration>>;
  readonly acceptAsSet: z.ZodDefault<z.ZodBoolean>;
  readonly withoutCapabilities: ReturnType<typeof withoutCapabilities>;
} = {
  passwordFile: filePath()
    .optional()
    .describe('File with the TCP-MD5 password (RFC 2385), 1 to 80 octets, not readable by others.'),
  holdTime: duration({ min: 3_000, max: 65_535_000 })
    .default(9_000)
    .describe('Hold time that is offered (RFC 4271 section 4.2).'),
  acceptAsSet: z
    .boolean()
    .default(false)
    .describe(
      'Take paths whose AS_PATH has an AS_SET. Otherwise they count as withdrawn (RFC 9774 section 3).',
    ),
  withoutCapabilities: withoutCapabilities(),
};
