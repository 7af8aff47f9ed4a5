import {
  ask,
  type Command,
  type CommandContext,
  checkConfigCommand,
  controlEvents,
  createLogger,
  type LoggedEvent,
  loadConfig,
  printable,
  runCommandLine,
  runDaemon,
  showCommand,
} from '@bgp-lb/daemon';
import { giveBackStartUpMemory } from '@bgp-lb/daemon/small-heap';
import type { NeighborStatus, RouterRoutes } from './api/neighbor-status.ts';
import type { RouterStatus } from './api/router-status.ts';
import { eventLine, neighborsTable, neighborTables, routesTables, statusTables } from './api/tables.ts';
import { configWarnings } from './config/config-warnings.ts';
import { faultsOnHost } from './config/faults-on-host.ts';
import type { RouterConfig } from './config/router-config.ts';
import { API_VERSION, CONFIG_KIND, routerSchema } from './config/schema.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { drainCommand, undrainCommand } from './drain/drain-commands.ts';
import { explainCommand } from './explain/explain-command.ts';
import { fibCommand } from './fib/fib-command.ts';
import { importHaproxyCommand } from './import-haproxy/import-haproxy-command.ts';
import { mrtCommand } from './mrt/mrt-command.ts';
import { rebalanceCommand } from './rebalance/rebalance-command.ts';
import { reloadCommand } from './reload/reload-command.ts';
import { resetCommand } from './reset/reset-command.ts';
import { uninstallCommand } from './uninstall/uninstall-command.ts';

const NAME = 'bgp-lb-router';
const VERSION = '0.1.0';
const CONFIG_FILE = '/etc/bgp-lb/router.yaml';
const SOCKET = '/run/bgp-lb/router.sock';

function load({ configFile, configFlags, env }: CommandContext, onHost = false): RouterConfig {
  return loadConfig({
    schema: routerSchema,
    file: configFile,
    argv: configFlags,
    env,
    apiVersion: API_VERSION,
    kind: CONFIG_KIND,
    onHost: onHost ? faultsOnHost : undefined,
  }).config;
}

/** The daemon itself; `program` is what its BFD thread runs. */
const run = (program: URL): Command => ({
  syntax: 'run',
  describe: 'Run the router in the foreground',
  takesConfig: true,
  async run(context) {
    const config = load(context, true);
    const logger = createLogger(config.log.level, { name: NAME });
    // The daemon's parts are loaded only here: the other commands answer faster without them.
    const { startRouter } = await import('./app.ts');
    const { releaseMemory, serviceNotifier, watchdogTime } = await import('@bgp-lb/linux');
    giveBackStartUpMemory(releaseMemory);
    const notify = serviceNotifier(context.env, (error) =>
      logger.warn({ err: error }, 'the service manager cannot be told'),
    );
    await runDaemon({
      name: NAME,
      logger,
      notify,
      watchdogTime: watchdogTime(context.env, process.pid),
      start: () =>
        startRouter({ config, reread: () => load(context, true), program, logger, version: VERSION, notify }),
    });
    return 0;
  },
});

const neighbors: Command = {
  syntax: 'neighbors [name]',
  describe: 'Show the BGP neighbors, or everything about one',
  prints: true,
  asksDaemon: true,
  positionals: { name: { describe: 'name or address of a neighbor' } },
  async run(context) {
    const { name } = context.args;
    if (typeof name === 'string') {
      const path = `/api/v1/neighbors/${encodeURIComponent(name)}`;
      context.print(await ask<NeighborStatus>(context, path), neighborTables);
    } else {
      context.print(await ask<NeighborStatus[]>(context, '/api/v1/neighbors'), neighborsTable);
    }
  },
};

const events: Command = {
  syntax: 'events',
  describe: 'Show what has happened, and with --follow what happens',
  prints: true,
  asksDaemon: true,
  options: { follow: { alias: 'f', type: 'boolean', describe: 'go on with what happens from now on' } },
  async run(context) {
    const recent = await ask<LoggedEvent[]>(context, '/api/v1/events');
    if (context.args['follow'] !== true) {
      if (context.format === 'table') {
        context.write(recent.map((event) => line(context, event)).join(''));
      } else {
        context.print(recent);
      }
      return;
    }
    // From the last one that is shown, so that none in between is missed.
    const since = recent.at(-10)?.sequence ?? recent[0]?.sequence ?? 1;
    await controlEvents(context.socket, (event) => context.write(line(context, event as LoggedEvent)), {
      since: since - 1,
    });
  },
};

/** One event on one line, whatever the format: a stream has no end that JSON could close. */
function line(context: CommandContext, event: LoggedEvent): string {
  return `${printable(context.format === 'table' ? eventLine(event) : JSON.stringify(event))}\n`;
}

const commands: readonly Command[] = [
  checkConfigCommand(load, configWarnings),
  showCommand<RouterStatus>({
    syntax: 'status',
    describe: 'Show the VIPs and their members',
    path: '/api/v1/status',
    tables: statusTables,
  }),
  neighbors,
  showCommand<RouterRoutes>({
    syntax: 'routes',
    describe: 'Show paths received, refused and advertised',
    path: '/api/v1/routes',
    tables: routesTables,
  }),
  fibCommand,
  events,
  mrtCommand,
  explainCommand,
  rebalanceCommand,
  doctorCommand((context) => load(context)),
  resetCommand,
  reloadCommand,
  drainCommand,
  undrainCommand,
  uninstallCommand((context) => load(context)),
  importHaproxyCommand,
];

/** Runs the command line and resolves to its exit code. @param program what the BFD thread runs */
export function runCli(program: URL, argv?: readonly string[]): Promise<number> {
  return runCommandLine({
    name: NAME,
    version: VERSION,
    commands: [run(program), ...commands],
    configFile: CONFIG_FILE,
    socket: SOCKET,
    ...(argv !== undefined && { argv }),
  });
}
