import { UsageError } from '../cli/command.ts';
import { ConfigError } from '../config/diagnostic.ts';
import { SecretError } from '../config/read-secret.ts';

/** Exit codes of both programs: all went well; it failed; the command line or the configuration is wrong. */
export const ExitCode = { Good: 0, Failed: 1, Usage: 2 } as const;

/** The exit code that an error stands for. */
export function exitCodeOf(error: unknown): number {
  const isUsage = error instanceof UsageError || error instanceof ConfigError || error instanceof SecretError;
  return isUsage ? ExitCode.Usage : ExitCode.Failed;
}

const BUGS = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError];

/** An error for people: its message, or with its stack when it is a programming error. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBug = BUGS.some((type) => error instanceof type) && !('code' in error);
  return isBug ? (error.stack ?? error.message) : error.message;
}
