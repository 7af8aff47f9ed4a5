import { controlRequest } from '../control/control-client.ts';
import type { Table } from '../output/table.ts';
import { type Command, type CommandContext, UsageError } from './command.ts';

/**
 * `check-config`: `load` throws ConfigError for a configuration with faults; with `onHost` it looks at this host too.
 * @param warnings what works and is seldom wanted, a sentence each
 */
export function checkConfigCommand<T>(
  load: (context: CommandContext, onHost: boolean) => T,
  warnings: (config: T) => readonly string[],
): Command {
  return {
    syntax: 'check-config [file]',
    describe: 'Check the configuration and say what is wrong with it',
    takesConfig: true,
    positionals: { file: { describe: 'configuration file, as --config names one' } },
    options: {
      offline: {
        type: 'boolean',
        default: false,
        describe:
          'Leave out what is on this host (password files, folders, own addresses): the configuration is for another machine',
      },
    },
    run(context) {
      const { file, config, offline } = context.args;
      if (file !== undefined && config !== undefined) {
        throw new UsageError('the configuration is named twice: by --config and as an argument');
      }
      const configFile = file === undefined ? context.configFile : String(file);
      for (const warning of warnings(load({ ...context, configFile }, offline !== true)))
        context.say(`warning: ${warning}`);
      context.write(`${configFile} is good\n`);
      return 0;
    },
  };
}

/**
 * Asks the running daemon. It is of the same release as the command, which therefore knows the shape of its answer.
 * Rejects with ControlClientError.
 */
export async function ask<T>(context: CommandContext, path: string): Promise<T> {
  return (await controlRequest(context.socket, 'GET', path)) as T;
}

/** A command that prints one answer of the daemon. */
export function showCommand<T>(options: {
  readonly syntax: string;
  readonly describe: string;
  readonly path: string;
  readonly tables: (value: T) => Table | readonly Table[];
}): Command {
  const { syntax, describe, path, tables } = options;
  return {
    syntax,
    describe,
    prints: true,
    asksDaemon: true,
    async run(context) {
      context.print(await ask<T>(context, path), tables);
    },
  };
}
