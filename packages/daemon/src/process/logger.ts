import { type DestinationStream, type Logger, pino } from 'pino';
import { LogStream } from './log-stream.ts';

/** A structured logger; see pino. */
export type { Logger } from 'pino';

/** The levels of the configuration, most talkative first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One of `LOG_LEVELS`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** JSON lines on standard output: `level` as a word, `time` as ISO 8601. What is still buffered is written when the process exits. */
export function createLogger(
  level: LogLevel,
  options: { readonly name?: string; readonly destination?: DestinationStream } = {},
): Logger {
  const destination = options.destination ?? standardOutput();
  return pino(
    {
      level,
      base: options.name === undefined ? null : { name: options.name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/** One stream for all loggers of the process, so that their lines do not mix. */
let standard: LogStream | undefined;

function standardOutput(): LogStream {
  if (standard !== undefined) return standard;
  const stream = new LogStream(1);
  process.once('exit', () => stream.writeRest());
  standard = stream;
  return stream;
}
