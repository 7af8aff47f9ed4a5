import { type CommandLineOptions, checkConfigCommand, runCommandLine } from '@bgp-lb/daemon';
import { crdsCommand } from './commands/crds-command.ts';
import { hostTokenCommand } from './commands/host-token-command.ts';
import { manifestsCommand } from './commands/manifests-command.ts';
import { runCommand } from './commands/run-command.ts';
import { explainCommand, statusCommand } from './commands/status-command.ts';
import { DEFAULT_CONFIG_FILE, loadControllerConfig } from './config/load-controller-config.ts';
import { DEFAULT_SOCKET } from './config/schema.ts';

const VERSION = '0.1.0';
const IMAGE = `bgp-lb/controller:${VERSION}`;

/** Runs `bgp-lb-controller`. Resolves to the exit code: 0 good, 1 failed, 2 usage or configuration error. */
export function controllerCommandLine(
  argv?: readonly string[],
  output: Pick<CommandLineOptions, 'stdout' | 'stderr'> = {},
): Promise<number> {
  return runCommandLine({
    name: 'bgp-lb-controller',
    version: VERSION,
    commands: [
      runCommand(VERSION),
      checkConfigCommand(loadControllerConfig, () => []),
      statusCommand,
      explainCommand,
      crdsCommand,
      manifestsCommand(IMAGE),
      hostTokenCommand,
    ],
    configFile: DEFAULT_CONFIG_FILE,
    socket: DEFAULT_SOCKET,
    ...(argv === undefined ? {} : { argv }),
    ...output,
  });
}
