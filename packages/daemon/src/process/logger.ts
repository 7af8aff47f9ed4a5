import { type DestinationStream, type Logger, pino } from 'pino';

/** A structured logger; see pino. */
export type { Logger } from 'pino';

/** The levels of the configuration, most talkative first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One of `LOG_LEVELS`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Unwritten log text above this is dropped. The alternative would be to wait for whoever reads standard output, and a stuck
 * journal must not delay a BFD packet.
 */
const MAX_BUFFERED = 1024 * 1024;

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

function standardOutput(): DestinationStream {
  const stream = pino.destination({ dest: 1, sync: false, minLength: 1, maxLength: MAX_BUFFERED });
  // A full disk or a log reader that went away costs log lines; it must not end a load balancer.
  stream.on('error', () => undefined);
  return stream;
}
