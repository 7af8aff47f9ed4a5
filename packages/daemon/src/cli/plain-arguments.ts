import type { Command } from './command.ts';

const FLAG = /^--([A-Za-z][\w.]*)(?:=([\s\S]*))?$/;

/**
 * Reads the arguments of a command that takes configuration keys and nothing else, when they are plain pairs: `--config FILE`,
 * `-c FILE`, `--a.b.c VALUE`, `--a.b.c=VALUE`. Undefined for anything else, help included, which is left to the full parser.
 *
 * A daemon is started by such a line. Reading it here spares it the full parser, which would stay in memory (some 7 MB) for as long
 * as the daemon runs.
 */
export function plainArguments(
  command: Command,
  args: readonly string[],
): Record<string, unknown> | undefined {
  const takesMore = command.prints === true || command.asksDaemon === true || command.options !== undefined;
  if (command.takesConfig !== true || takesMore || command.syntax.includes(' ')) return undefined;
  const read: Record<string, unknown> = {};
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? '';
    const match = FLAG.exec(argument);
    const name = argument === '-c' ? 'config' : match?.[1];
    if (name === undefined || name === 'help' || name === 'version') return undefined;
    let value = match?.[2];
    if (value === undefined) {
      index += 1;
      value = args[index];
      if (value === undefined || value.startsWith('-')) return undefined;
    }
    const before = Object.hasOwn(read, name) ? read[name] : undefined;
    read[name] = before === undefined ? value : [before, value].flat();
  }
  return read;
}
