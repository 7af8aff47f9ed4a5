import { type CommandLineOptions, runCommandLine } from '@bgp-lb/daemon';
import { crdsCommand } from './commands/crds-command.ts';

const VERSION = '0.1.0';
const CONFIG_FILE = '/etc/bgp-lb/controller.yaml';
const SOCKET = '/run/bgp-lb/controller.sock';

/** Runs `bgp-lb-controller`. Resolves to the exit code: 0 good, 1 failed, 2 usage or configuration error. */
export function controllerCommandLine(
  argv?: readonly string[],
  output: Pick<CommandLineOptions, 'stdout' | 'stderr'> = {},
): Promise<number> {
  return runCommandLine({
    name: 'bgp-lb-controller',
    version: VERSION,
    commands: [crdsCommand],
    configFile: CONFIG_FILE,
    socket: SOCKET,
    ...(argv === undefined ? {} : { argv }),
    ...output,
  });
}
