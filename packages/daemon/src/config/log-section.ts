import * as z from 'zod';

/** The section `log`. */
export interface LogSection {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error';
}

/** Schema of the section `log`, which every daemon has. */
export function logSection(): z.ZodType<LogSection, unknown> {
  return z
    .strictObject({
      level: z
        .enum(['trace', 'debug', 'info', 'warn', 'error'])
        .default('info')
        .describe('The least level that is logged.'),
    })
    .prefault({})
    .describe('Logging, as JSON lines on standard output.');
}
