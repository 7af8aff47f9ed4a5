import { type Command, createLogger, runDaemon } from '@bgp-lb/daemon';
import { loadControllerConfig } from '../config/load-controller-config.ts';

/** Milliseconds that a stop may take: two writes, and the lease. */
const STOP_LIMIT = 30_000;

export function runCommand(version: string): Command {
  return {
    syntax: 'run',
    describe: 'Run the controller in the foreground',
    takesConfig: true,
    async run(context) {
      const config = loadControllerConfig(context);
      const logger = createLogger(config.log.level, { name: 'bgp-lb-controller' });
      const { startController } = await import('../run/start-controller.ts');
      await runDaemon({
        name: 'bgp-lb-controller',
        logger,
        stopTimeoutMs: STOP_LIMIT,
        start: () =>
          startController({ config, env: context.env, logger, version, exit: (code) => process.exit(code) }),
      });
      return 0;
    },
  };
}
