import { nearestName } from '../config/nearest-name.ts';
import type { Command } from './command.ts';

/** What yargs says of a faulty command line, as this program says it: what is wrong, the value, and what is allowed. Pure. */
export function usageFault(message: string, args: readonly string[], commands: readonly Command[]): string {
  const command = commands.find((one) => commandName(one) === args[0]);
  const extra = /^Unknown commands?: ([^,\s]+)/.exec(message)?.[1];
  if (extra !== undefined) {
    return command === undefined ? unknownCommand(extra, commands) : extraArgument(command, extra);
  }
  const missingValue = /^Not enough arguments following: (\S+)/.exec(message)?.[1];
  if (missingValue !== undefined) return `${dashed(missingValue)} needs a value`;
  const choice = /Argument: (\S+), Given: "?([\s\S]*?)"?, Choices: (.*)/.exec(message);
  if (choice !== null) {
    const [, name = '', given = '', choices = ''] = choice;
    const place = command?.positionals?.[name] === undefined ? dashed(name) : name;
    return `${place}: ${given} is not known; allowed: ${choices.replaceAll('"', '')}`;
  }
  if (/^Not enough non-option arguments/.test(message) && command !== undefined) {
    const missing = /<([\w-]+)(?:\.\.)?>/.exec(command.syntax)?.[1] ?? 'an argument';
    return `${commandName(command)} needs ${missing.toUpperCase()}: ${command.syntax}`;
  }
  return message;
}

function commandName(command: Command): string {
  return command.syntax.split(' ')[0] ?? command.syntax;
}

function unknownCommand(name: string, commands: readonly Command[]): string {
  const known = commands.map(commandName);
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? `allowed: ${known.join(', ')}` : `did you mean ${nearest}?`;
  return `unknown command ${name}; ${hint}`;
}

function extraArgument(command: Command, extra: string): string {
  const [name, ...takes] = command.syntax.split(' ');
  const allowed = takes.length === 0 ? 'no arguments' : takes.join(' ');
  const hint =
    command.takesConfig === true && /[./]/.test(extra)
      ? `; a configuration is given by --config ${extra}`
      : '';
  return `${name} takes ${allowed}; unknown: ${extra}${hint}`;
}

function dashed(name: string): string {
  return name.length === 1 ? `-${name}` : `--${name}`;
}
