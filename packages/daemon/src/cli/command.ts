import type { Options, PositionalOptions } from 'yargs';
import type { OutputFormat } from '../output/render.ts';
import type { Table } from '../output/table.ts';

/** What a command gets. */
export interface CommandContext {
  /** Positionals and the command's own options, by name. */
  readonly args: Readonly<Record<string, unknown>>;
  /** `--a.b.c` flags that are configuration keys, for `loadConfig`; empty unless the command takes them. */
  readonly configFlags: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
  /** `--config`, or BGP_LB_CONFIG, or the program's default. */
  readonly configFile: string;
  /** `--socket`, or BGP_LB_SOCKET, or the program's default. */
  readonly socket: string;
  readonly format: OutputFormat;
  /** Renders a value to standard output in the format of `-o`. */
  print<T>(value: T, table?: (value: T) => Table | readonly Table[]): void;
  /** Writes text or octets to standard output as they are. */
  write(text: string | Uint8Array): void;
  /** Standard output is a terminal, which octets would confuse. */
  readonly isTerminal: boolean;
  /** Writes a line for people to standard error. */
  say(message: string): void;
}

/** A subcommand. */
export interface Command {
  /** yargs syntax: `neighbors [name]`. */
  readonly syntax: string;
  readonly describe: string;
  /** Where `-o` makes sense; false by default. */
  readonly prints?: boolean;
  /** Where `--socket` makes sense: the command asks the running daemon. */
  readonly asksDaemon?: boolean;
  /** Where `--config` and configuration keys as flags are taken. */
  readonly takesConfig?: boolean;
  readonly positionals?: Readonly<Record<string, PositionalOptions>>;
  readonly options?: Readonly<Record<string, Options>>;
  /** Returns the exit code, 0 when it returns nothing. */
  run(context: CommandContext): Promise<number | undefined> | Promise<void> | number | undefined;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
