import { resolve } from 'node:path';
import {
  type Command,
  type CommandLineOptions,
  checkConfigCommand,
  createLogger,
  render,
  runCommandLine,
  runDaemon,
  showCommand,
  UsageError,
} from '@bgp-lb/daemon';
import { giveBackStartUpMemory } from '@bgp-lb/daemon/small-heap';
import { annotationRbac } from './annotation/rbac.ts';
import { cloudInitCommand } from './cloud-init/cloud-init-command.ts';
import { speakerWarnings } from './config/config-warnings.ts';
import { DEFAULT_SOCKET } from './config/default-socket.ts';
import { loadSpeakerConfig } from './config/load-speaker-config.ts';
import type { SpeakerConfig } from './config/speaker-config.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { drainCommand, undrainCommand } from './drain-command.ts';
import { explainCommand } from './explain/explain-command.ts';
import { hostFiles, placeFile } from './host-files.ts';
import { keepManifest } from './kept-manifest.ts';
import { reloadCommand } from './reload/reload-command.ts';
import { statusTables } from './status-tables.ts';
import { uninstallCommand } from './uninstall/uninstall-command.ts';
import { waitCommand } from './wait/wait-command.ts';

const VERSION = '0.1.0';
const CONFIG_FILE = '/etc/bgp-lb/speaker.yaml';
const IMAGE = `bgp-lb/speaker:${VERSION}`;

/** Milliseconds beyond the drain timeout that a stop may take. */
const STOP_GRACE = 15_000;

const roles = ['init', 'join'] as const;

function runCommand(program: URL | string): Command {
  return {
    syntax: 'run',
    describe: 'Run the speaker in the foreground',
    takesConfig: true,
    async run(context) {
      const config = loadSpeakerConfig(context, true);
      const logger = createLogger(config.log.level, { name: 'bgp-lb-speaker' });
      // The daemon's parts are loaded only here: the other commands answer faster without them.
      const { startSpeaker } = await import('./app.ts');
      const { limitArenas, releaseMemory, serviceNotifier, watchdogTime } = await import('@bgp-lb/linux');
      limitArenas(1);
      await runDaemon({
        name: 'bgp-lb-speaker',
        logger,
        stopTimeoutMs: config.drain.timeout + STOP_GRACE,
        notify: serviceNotifier(context.env, (error) =>
          logger.warn({ err: error }, 'the service manager cannot be told'),
        ),
        watchdogTime: watchdogTime(context.env, process.pid),
        start: async () => {
          const daemon = await startSpeaker({
            config,
            configFile: context.configFile,
            reread: () => loadSpeakerConfig(context, true),
            program,
            logger,
            version: VERSION,
            exit: (code) => process.exit(code),
          });
          giveBackStartUpMemory(releaseMemory);
          return daemon;
        },
      });
      return 0;
    },
  };
}

const status = showCommand({
  syntax: 'status',
  describe: 'Show the VIPs, what they depend on, and the sessions with the routers',
  path: '/api/v1/status',
  tables: statusTables,
});

const prepareCommand: Command = {
  syntax: 'prepare',
  describe:
    'Before kubeadm: remove what an earlier life of this machine left (address, nft table, markers, proof of bootstrap)',
  takesConfig: true,
  prints: true,
  options: {
    role: {
      type: 'string',
      choices: roles,
      requiresArg: true,
      describe: 'What kubeadm is about to do here; overrides the configured role until the next prepare',
    },
    'routes-only': {
      type: 'boolean',
      default: false,
      describe: 'At each boot: only the routes of routeToVip; what the life of this machine left stays',
    },
  },
  async run(context) {
    const config = loadSpeakerConfig(context);
    const { prepareHost, prepareRoutesOfHost } = await import('./prepare-host.ts');
    if (context.args['routes-only'] === true) {
      if (context.args['role'] !== undefined) throw new UsageError('--routes-only takes no --role');
      const { done, missing } = prepareRoutesOfHost(config);
      context.print([...done, ...missing], doneTable);
      return missing.length === 0 ? 0 : 1;
    }
    const done = await prepareHost(
      config,
      roles.find((role) => role === context.args['role']),
    );
    context.print(done.length === 0 ? ['nothing to remove'] : done, doneTable);
    return 0;
  },
};

function doneTable(lines: readonly string[]): { readonly columns: string[]; readonly rows: string[][] } {
  return { columns: ['done'], rows: lines.map((line) => [line]) };
}

const manifest: Command = {
  syntax: 'manifest',
  describe: 'Print the static pod that runs the speaker, as YAML, or give it to the kubelet',
  takesConfig: true,
  options: {
    image: { type: 'string', requiresArg: true, default: IMAGE, describe: 'container image' },
    place: {
      type: 'boolean',
      default: false,
      describe: `write it to ${hostFiles.manifest}, whole: the kubelet reads half-written files`,
    },
    rbac: {
      type: 'boolean',
      default: false,
      describe: 'instead of the pod, the rights that the credentials of drain.annotation need',
    },
  },
  async run(context) {
    const config = loadSpeakerConfig(context);
    if (context.args['rbac'] === true) {
      if (context.args['place'] === true)
        throw new UsageError('--rbac is for kubectl apply: it takes no --place');
      context.write(render(rbacOf(config), 'yaml'));
      return 0;
    }
    const { staticPod } = await import('./manifest.ts');
    const image = String(context.args['image'] ?? IMAGE);
    // Another program reads it, the kubelet, and in another folder.
    const configFile = resolve(context.configFile);
    const pod = render(staticPod({ config, configFile, image }), 'yaml');
    if (context.args['place'] !== true) {
      context.write(pod);
      return 0;
    }
    const isNew = placeFile(hostFiles.manifest, pod, 0o600);
    keepManifest(config.bootstrap.stateDir, pod);
    context.say(`${hostFiles.manifest} ${isNew ? 'is written' : 'is so already'}`);
    return 0;
  },
};

/** @throws UsageError where no credentials are needed */
function rbacOf({ drain: { annotation } }: SpeakerConfig): object {
  if (annotation === undefined)
    throw new UsageError(
      'without drain.annotation in the configuration, no credentials are needed and no rights',
    );
  return annotationRbac(annotation.node);
}

/**
 * Runs `bgp-lb-speaker`. Resolves to the exit code: 0 good, 1 failed, 2 usage or configuration error.
 * @param program what the thread of BFD runs
 */
export function speakerCommandLine(
  program: URL | string,
  argv?: readonly string[],
  output: Pick<CommandLineOptions, 'stdout' | 'stderr'> = {},
): Promise<number> {
  return runCommandLine({
    name: 'bgp-lb-speaker',
    version: VERSION,
    commands: [
      runCommand(program),
      checkConfigCommand(loadSpeakerConfig, speakerWarnings),
      status,
      explainCommand,
      doctorCommand,
      reloadCommand,
      prepareCommand,
      waitCommand,
      drainCommand,
      undrainCommand,
      manifest,
      cloudInitCommand(IMAGE),
      uninstallCommand,
    ],
    configFile: CONFIG_FILE,
    socket: DEFAULT_SOCKET,
    ...(argv === undefined ? {} : { argv }),
    ...output,
  });
}
