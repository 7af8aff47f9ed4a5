import type { Argv } from 'yargs';
import { ConfigError } from '../config/diagnostic.ts';
import { nearestName } from '../config/nearest-name.ts';
import { printable } from '../output/printable.ts';
import { OUTPUT_FORMATS, type OutputFormat, render } from '../output/render.ts';
import { ExitCode, exitCodeOf, failureText } from '../process/exit-code.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';
import { plainArguments } from './plain-arguments.ts';
import { usageFault } from './usage-fault.ts';

/** A program with subcommands. */
export interface CommandLineOptions {
  readonly name: string;
  readonly version: string;
  readonly commands: readonly Command[];
  /** Default of `--config`. */
  readonly configFile: string;
  /** Default of `--socket`. */
  readonly socket: string;
  /** Arguments without program and script; those of the process by default. */
  readonly argv?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly stdout?: TextSink;
  readonly stderr?: TextSink;
}

/** Where text goes, and the octets of a command that writes a file. */
export interface TextSink {
  write(text: string | Uint8Array): unknown;
  readonly isTTY?: boolean;
  /** Of a terminal: its width. */
  readonly columns?: number;
}

interface Selection {
  readonly command: Command;
  readonly argv: Readonly<Record<string, unknown>>;
}

const PARSER = {
  // Configuration keys are flags with dots, and their values are read by the schema, not guessed here.
  'dot-notation': false,
  'parse-numbers': false,
  'parse-positional-numbers': false,
  'camel-case-expansion': false,
  'boolean-negation': false,
  'strip-aliased': true,
  'greedy-arrays': false,
} as const;

/**
 * Parses the command line and runs its command. Resolves to the exit code: 0 good, 1 failed, 2 usage or configuration error. What
 * was asked for goes to standard output, everything else to standard error.
 */
export async function runCommandLine(options: CommandLineOptions): Promise<number> {
  const stdout = options.stdout ?? process.stdout;
  const stderr = options.stderr ?? process.stderr;
  if (stdout === process.stdout) endQuietlyOnClosedPipe();
  try {
    const parsed = await parse(options);
    if (parsed.output !== '') stdout.write(`${parsed.output}\n`);
    if (parsed.selection === undefined) return ExitCode.Good;
    const context = contextOf(parsed.selection, options, stdout, stderr);
    return (await parsed.selection.command.run(context)) ?? ExitCode.Good;
  } catch (error) {
    const lead = error instanceof ConfigError ? '' : `${options.name}: `;
    const hint = error instanceof UsageError ? `\nTry '${options.name} --help'.` : '';
    stderr.write(`${lead}${printable(failureText(error), { keepNewlines: true })}${hint}\n`);
    return exitCodeOf(error);
  }
}

/** `status | head` closes our output early, which is no failure of ours. */
function endQuietlyOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? ExitCode.Good : ExitCode.Failed);
  });
}

async function parse(
  options: CommandLineOptions,
): Promise<{ selection: Selection | undefined; output: string }> {
  const args = options.argv ?? process.argv.slice(2);
  const named = options.commands.find((command) => command.syntax === args[0]);
  const plain = named === undefined ? undefined : plainArguments(named, args.slice(1));
  if (named !== undefined && plain !== undefined)
    return { selection: { command: named, argv: plain }, output: '' };
  // Loaded here, so that a daemon does not keep it in memory.
  const { default: yargs } = await import('yargs');
  let selection: Selection | undefined;
  let output = '';
  const cli = yargs()
    .scriptName(options.name)
    .usage('Usage: $0 COMMAND [options]')
    .parserConfiguration(PARSER)
    .detectLocale(false)
    .exitProcess(false)
    .showHelpOnFail(false)
    .version(options.version)
    .help()
    .alias('help', 'h')
    .strictCommands()
    .demandCommand(1, 'which command?')
    .epilogue('Exit codes: 0 good, 1 failed, 2 usage or configuration error.')
    .fail((message, error) => {
      // Commands run after parsing: whatever fails in here is the command line.
      const text = message ?? error?.message ?? 'the command line cannot be read';
      throw new UsageError(usageFault(text, args, options.commands));
    });
  cli.wrap(Math.min(110, cli.terminalWidth()));
  for (const command of options.commands) {
    cli.command(
      command.syntax,
      command.describe,
      (builder) => buildCommand(builder, command, options),
      (argv) => {
        selection = { command, argv };
      },
    );
  }
  await cli.parseAsync([...args], {}, (_error, _argv, text) => {
    output = text;
  });
  return { selection, output };
}

function buildCommand(builder: Argv, command: Command, options: CommandLineOptions): Argv {
  for (const [name, positional] of Object.entries(command.positionals ?? {})) {
    builder.positional(name, { type: 'string', ...positional });
  }
  builder.options({ ...command.options });
  if (command.prints === true) {
    builder.option('output', {
      alias: 'o',
      type: 'string',
      requiresArg: true,
      choices: OUTPUT_FORMATS,
      default: 'table',
      describe: 'how to print',
    });
  }
  if (command.asksDaemon === true) {
    const describe = `control socket of the daemon (${options.socket}; or BGP_LB_SOCKET)`;
    builder.option('socket', { type: 'string', requiresArg: true, describe });
  }
  if (command.takesConfig === true) {
    const describe = `configuration file (${options.configFile}; or BGP_LB_CONFIG)`;
    builder
      .option('config', { alias: 'c', type: 'string', requiresArg: true, describe })
      .epilogue('Every key of the configuration is a flag too: --log.level debug, --vips.0.port 6443.');
  }
  return builder;
}

function contextOf(
  selection: Selection,
  options: CommandLineOptions,
  stdout: TextSink,
  stderr: TextSink,
): CommandContext {
  const { command } = selection;
  const { known, others } = split(selection);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined && command.takesConfig !== true) {
    throw new UsageError(unknownFlag(unknown, knownFlags(command)));
  }
  const env = options.env ?? process.env;
  const format = outputFormat(known['output']);
  return {
    args: known,
    configFlags: others,
    env,
    configFile: single('config', known['config']) ?? env['BGP_LB_CONFIG'] ?? options.configFile,
    socket: single('socket', known['socket']) ?? env['BGP_LB_SOCKET'] ?? options.socket,
    format,
    print: (value, table) => {
      stdout.write(render(value, format, table, stdout.isTTY === true ? stdout.columns : undefined));
    },
    isTerminal: stdout.isTTY === true,
    write: (text) => {
      stdout.write(text);
    },
    say: (message) => {
      stderr.write(`${printable(message, { keepNewlines: true })}\n`);
    },
  };
}

function outputFormat(value: unknown): OutputFormat {
  const text = single('output', value) ?? 'table';
  const format = OUTPUT_FORMATS.find((one) => one === text);
  if (format === undefined)
    throw new UsageError(`unknown format ${text}; allowed: ${OUTPUT_FORMATS.join(', ')}`);
  return format;
}

function single(name: string, value: unknown): string | undefined {
  if (Array.isArray(value)) throw new UsageError(`--${name} is given more than once`);
  if (value === '') throw new UsageError(`--${name} needs a value`);
  return value === undefined ? undefined : String(value);
}

function knownFlags(command: Command): string[] {
  return [
    ...Object.keys(command.options ?? {}),
    ...Object.values(command.options ?? {}).flatMap((option) => option.alias ?? []),
    ...(command.prints === true ? ['output', 'o'] : []),
    ...(command.asksDaemon === true ? ['socket'] : []),
    ...(command.takesConfig === true ? ['config', 'c'] : []),
    'help',
  ];
}

/** The command's own arguments, and the flags that it does not know. */
function split({ command, argv }: Selection): {
  known: Record<string, unknown>;
  others: Record<string, unknown>;
} {
  const own = new Set([...knownFlags(command), ...positionalNames(command), 'version', 'h']);
  const known: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(argv)) {
    if (name === '_' || name === '$0' || value === undefined) continue;
    if (own.has(name)) known[name] = value;
    else others[name] = value;
  }
  return { known, others };
}

/** The names in `drain <member>`, `show [names..]`. */
function positionalNames(command: Command): string[] {
  return [...command.syntax.matchAll(/[<[]([\w-]+)(?:\.\.)?[>\]]/g)].flatMap((match) => match[1] ?? []);
}

function unknownFlag(name: string, known: readonly string[]): string {
  const nearest = name.length === 1 ? undefined : nearestName(name, known);
  const dash = name.length === 1 ? '-' : '--';
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return `unknown flag ${dash}${name}${hint}`;
}
