import { hostname } from 'node:os';
import { ControlServer, EventLog, type Logger, type RunningDaemon } from '@bgp-lb/daemon';
import { ApiClient } from '@bgp-lb/kubernetes';
import type { ControllerConfig } from '../config/schema.ts';
import { apiCredentials } from './api-credentials.ts';
import { Controller } from './controller.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { systemClock } from './system-clock.ts';

export interface StartControllerOptions {
  readonly config: ControllerConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly logger: Logger;
  readonly version: string;
  /** Ends the process: the lease is lost, and another replica may write. */
  readonly exit: (code: number) => void;
}

/** The running controller: its HTTP API, and what it does. */
export async function startController(options: StartControllerOptions): Promise<RunningDaemon> {
  const { config, env, logger, version, exit } = options;
  const events = new EventLog({ capacity: 1_000 });
  const newClient = (): ApiClient =>
    new ApiClient({ open: apiCredentials(config.kubeconfig, env), clock: systemClock });
  const metrics = new ControllerMetrics(version, () => controller.depth);
  const controller: Controller = new Controller({
    client: newClient(),
    leaseClient: newClient(),
    clock: systemClock,
    wallClock: () => Date.now(),
    namespace: config.namespace,
    watchFilter: config.watchFilter,
    lease: { ...config.lease, identity: config.lease.identity ?? `${hostname()}-${process.pid}` },
    observer: {
      leading(isLeader) {
        metrics.leader.set(isLeader ? 1 : 0);
        logger.info(isLeader ? 'this replica leads' : 'this replica leads no more');
      },
      lost(why) {
        logger.fatal(`${why}; the process ends, so that nothing is written beside another replica`);
        logger.flush(() => exit(1));
      },
      reconciled(key, seconds) {
        metrics.reconcileSeconds.observe(seconds);
        logger.debug({ key, seconds }, 'reconciled');
      },
      wrote(what) {
        metrics.writes.inc({ what });
      },
      failed(what, error) {
        metrics.errors.inc({ what: errorKind(what) });
        logger.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      },
    },
  });
  const control = new ControlServer({
    socketPath: config.api.socket,
    listen: config.api.listen,
    routes: [],
    metrics: metrics.registry,
    events,
    logger,
    readiness: () => {
      const { missing } = controller;
      return missing === undefined ? { ready: true } : { ready: false, reason: missing };
    },
  });
  await control.start();
  controller.start();
  return {
    async stop() {
      await controller.stop();
      await control.close();
    },
  };
}

/** Of few kinds: keys would make a series for each object. */
function errorKind(what: string): string {
  const [first = ''] = what.split(' ');
  return ['watch', 'lease', 'event'].includes(first) ? first : 'reconcile';
}
