import { dirname, join } from 'node:path';
import {
  acquireInstanceLock,
  ControlError,
  ControlServer,
  checkReload,
  type RunningDaemon,
} from '@bgp-lb/daemon';
import { RouteSocket, tcpMd5Counters, untilAnswered } from '@bgp-lb/linux';
import type { AnnotationWatch } from './annotation/annotation-watch.ts';
import { newAnnotationWatch } from './annotation/new-annotation-watch.ts';
import type { RouterChanges } from './bgp/advertiser.ts';
import { type BootstrapStatus, BootstrapWatch } from './bootstrap/bootstrap-watch.ts';
import { speakerWarnings } from './config/config-warnings.ts';
import { controlRoutes } from './control-routes.ts';
import { hostFacts } from './host-facts.ts';
import { Journal } from './journal.ts';
import { VipAddresses } from './kernel/vip-addresses.ts';
import { DrainOrderFile } from './lifecycle/drain-order.ts';
import { DrainTriggers } from './lifecycle/drain-triggers.ts';
import { type MasterKernel, masterKernel } from './master-kernel.ts';
import { MasterLife } from './master-life.ts';
import type { MetricsSource } from './metrics.ts';
import { speakerReload } from './reload/reload-rule.ts';
import { readPasswords, refuseStaleMounts } from './reload/router-passwords.ts';
import { type RouterSessions, routerSessions } from './router-sessions.ts';
import type { SpeakerContext, SpeakerOptions } from './speaker-context.ts';
import { advertisedTo, prefixText, type SpeakerStatus, speakerStatus } from './status.ts';

/** Starts the speaker. @throws Error when something that it cannot do without is missing: the process then ends with that reason */
export async function startSpeaker(options: SpeakerOptions): Promise<RunningDaemon> {
  const { config } = options;
  const lock = await acquireInstanceLock(join(dirname(config.api.socket), 'speaker.lock'));
  try {
    const routes = new RouteSocket();
    const daemon = new SpeakerDaemon({
      ...options,
      routes,
      passwords: readPasswords(config.routers),
      facts: await hostFacts(config, routes),
      found: await untilAnswered(() => new VipAddresses(routes, config.vips).found()),
      releaseLock: lock.release,
    });
    await daemon.start();
    return daemon;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The parts of the speaker, and the order in which they start and stop. Decisions are made in lifecycle, health and bootstrap. */
class SpeakerDaemon implements RunningDaemon {
  readonly #context: SpeakerContext;
  readonly #journal: Journal;
  readonly #kernel: MasterKernel;
  readonly #sessions: RouterSessions;
  readonly #life: MasterLife;
  readonly #annotation: AnnotationWatch | undefined;
  readonly #triggers: DrainTriggers;
  readonly #control: ControlServer;
  readonly #adopted: ReadonlySet<string>;

  constructor(context: SpeakerContext) {
    this.#context = context;
    const { config, logger } = context;
    const bootstrap = new BootstrapWatch(
      { role: config.role, caFile: config.apiServer.caFile, ...config.bootstrap },
      (message) => logger.warn(message),
    );
    const observed = bootstrap.observe();
    this.#journal = this.#newJournal();
    this.#kernel = masterKernel(context, this.#journal, () =>
      this.#sessions.routers().map(({ address }) => address),
    );
    const { keeper, clients, hold } = this.#kernel;
    this.#adopted = new Set(adoptedVips(context, observed, bootstrap.advertised));
    const isRestarting = this.#adopted.size > 0 && observed.proof === 'proven';
    this.#sessions = routerSessions(context, this.#journal, isRestarting);
    const { advertiser } = this.#sessions;
    const orders = new DrainOrderFile(config.bootstrap.stateDir, (message) => logger.warn(message));
    this.#annotation = newAnnotationWatch(context, () => this.#life.decide());
    this.#triggers = new DrainTriggers(config.drain.file, orders, this.#annotation);
    this.#life = new MasterLife(
      {
        ...{ context, journal: this.#journal, bootstrap, keeper, advertiser, clients, hold },
        triggers: this.#triggers,
        adopted: this.#adopted,
        caUnlinked: () => void this.#mountAnew(),
      },
      observed,
    );
    this.#control = new ControlServer({
      socketPath: config.api.socket,
      listen: config.api.listen,
      routes: [
        ...controlRoutes({
          ...{ context, orders, life: this.#life, sessions: this.#sessions, kernel: this.#kernel },
          triggers: this.#triggers,
          status: () => this.#status(),
        }),
        { method: 'POST', path: '/api/v1/reload', handle: () => this.#reloadByRequest() },
      ],
      metrics: this.#journal.metrics.registry,
      events: this.#journal.events,
      logger,
      readiness: () => this.#readiness(),
    });
  }

  async start(): Promise<void> {
    const { config, logger, facts } = this.#context;
    const { keeper } = this.#kernel;
    // First of all the guard, and nothing of an earlier life that is not ours to keep. Fails here when the kernel refuses.
    await Promise.all([untilAnswered(() => keeper.setBound(this.#adopted)), this.#control.start()]);
    keeper.start();
    this.#kernel.wayBack.start();
    for (const warning of speakerWarnings(config)) logger.warn(warning);
    const { role, proof, detail } = this.#life.bootstrap;
    logger.info(
      { role, bootstrap: proof, ...facts, adopted: [...this.#adopted] },
      `speaker for ${config.vips.map(({ address }) => address).join(', ')}: ${detail}`,
    );
    this.#life.start();
    this.#annotation?.start();
  }

  /** SIGTERM and SIGINT. Keeps everything for a successor, unless a drain is configured or asked for. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const { config, logger } = this.#context;
    const { advertiser } = this.#sessions;
    const { keeper } = this.#kernel;
    if (config.stopMode === 'drain' || this.#triggers.all().length > 0) {
      await this.#life.drainToStop();
      await keeper.setBound(new Set());
      await this.#leave(() => advertiser.shutdown('the speaker was stopped and has drained'));
      return;
    }
    logger.info(
      { signal },
      'addresses, mappings and announcements are left as they are for the next speaker',
    );
    await this.#leave(async () => {
      await keeper.pass('full').catch(() => undefined);
      await advertiser.closeForSuccessor();
    });
  }

  /** SIGHUP. Rejects with the reason when nothing is taken. */
  async reload(): Promise<void> {
    this.#takeConfig();
  }

  #reloadByRequest(): RouterChanges {
    try {
      return this.#takeConfig();
    } catch (error) {
      throw new ControlError(409, error instanceof Error ? error.message : String(error));
    }
  }

  /**
   * Takes the routers, and how much is logged, from the configuration as it is now. Whole or not at all: everything that may fail
   * comes before the first change.
   * @throws ConfigError, SecretError, ReloadError
   */
  #takeConfig(): RouterChanges {
    const { config, configFile, logger, reread } = this.#context;
    const next = reread();
    checkReload(config, next, speakerReload);
    refuseStaleMounts(configFile, next.routers);
    const passwords = readPasswords(next.routers);
    logger.level = next.log.level;
    const changes = this.#sessions.setRouters(next.routers, passwords);
    this.#journal.reloaded(changes);
    // The links towards the routers may be others now.
    this.#kernel.keeper.pass('event').catch(() => undefined);
    return changes;
  }

  /** A second signal: a drain ends now, in order, even while clients are connected. */
  hurry(): void {
    this.#triggers.hurry();
    this.#life.decide();
  }

  /** Stops all parts, in this order: what decides, what watches, what speaks, what answers. */
  async #leave(sayGoodbye: () => Promise<void>): Promise<void> {
    this.#annotation?.close();
    this.#life.close();
    this.#kernel.keeper.close();
    this.#kernel.wayBack.close();
    this.#sessions.bfd.detach();
    await sayGoodbye();
    // After the sessions: FRR 8.4 takes AdminDown for death and would end one that it is to keep the paths of (RFC 5882
    // section 4.2 says otherwise), and no router takes BFD that falls silent after a FIN for the death of this host.
    await this.#sessions.bfd.stop();
    this.#journal.close();
    await this.#control.close();
    this.#kernel.close();
    this.#context.routes.close();
    this.#context.releaseLock();
  }

  /** ca.crt was replaced, and the mount of this container still shows the old one: only a new container sees the new one. */
  async #mountAnew(): Promise<void> {
    const { config, logger, exit } = this.#context;
    const { advertiser } = this.#sessions;
    const text = `${config.apiServer.caFile} was replaced`;
    logger.warn(
      `${text} behind its mount: unbinding and ending, so that the container starts anew and sees the new file`,
    );
    const none = new Map(config.vips.map(({ address }) => [address, 'none'] as const));
    try {
      await this.#leave(async () => {
        advertiser.advertise(none, []);
        await this.#kernel.keeper.setBound(new Set());
        await advertiser.shutdown(text);
      });
    } catch (error) {
      logger.error({ err: error }, 'could not leave in order');
    }
    exit(1);
  }

  #newJournal(): Journal {
    const { logger, version } = this.#context;
    const source: MetricsSource = {
      vips: () =>
        this.#life.views().map(({ vip, state, isBound }) => ({
          vip: prefixText(vip.address),
          state,
          isBound,
          elsewhere: this.#kernel.host.elsewhere.filter((one) => one.vip === vip.address).length,
        })),
      isReady: () => this.#life.readiness.level === 'ready',
      isBootstrapped: () => this.#life.bootstrap.proof === 'proven',
      routers: () =>
        this.#sessions.advertiser.peers().map((peer) => ({
          address: peer.address,
          isEstablished: peer.state === 'Established',
          advertised: advertisedTo(peer),
          bfd: this.#sessions.bfd.state(peer.address),
        })),
      isDrained: () => this.#triggers.all().length > 0 || this.#life.readiness.level === 'stopping',
      bfd: () => this.#sessions.bfd.status(),
    };
    return new Journal(logger, source, version);
  }

  #readiness(): { ready: boolean; reason?: string } {
    const { fault } = this.#kernel.keeper;
    if (fault !== undefined) return { ready: false, reason: `the kernel refused a change: ${fault}` };
    const isConnected = this.#sessions.advertiser.peers().some(({ state }) => state === 'Established');
    return isConnected
      ? { ready: true }
      : { ready: false, reason: 'no BGP session with a router is established' };
  }

  async #status(): Promise<SpeakerStatus> {
    const { config, facts } = this.#context;
    const { advertiser, bfd } = this.#sessions;
    const { host, keeper, wayBack } = this.#kernel;
    const routers = this.#sessions.routers();
    return speakerStatus({
      config: { ...config, routers },
      ...facts,
      bootstrap: this.#life.bootstrap,
      gates: this.#life.gates,
      vips: this.#life.views(),
      elsewhere: host.elsewhere,
      peers: advertiser.peers(),
      otherMasters: advertiser.otherMasters(),
      bfdState: (router) => bfd.state(router),
      bfdScheduling: bfd.scheduling,
      bfd: await bfd.status(),
      drainAnnotation: this.#annotation?.status(),
      kernel: {
        uplinks: host.uplinks,
        routesMissing: config.routeToVip ? host.routesMissing : null,
        fault: keeper.fault ?? null,
        // Without a VIP on this host clients are answered by load balancers, on the link.
        wayBack: config.vipBind ? wayBack.findings() : [],
        reversePathDrops: wayBack.dropped() ?? null,
        md5: routers.some(({ passwordFile }) => passwordFile !== undefined) ? tcpMd5Counters() : null,
      },
    });
  }
}

/** VIPs of a predecessor: those that it left bound, or, where nothing is bound, those that the routers may still have of it. */
function adoptedVips(
  { config, found }: SpeakerContext,
  observed: BootstrapStatus,
  advertised: readonly string[],
): readonly string[] {
  if (config.vipBind) return mayKeep(observed) ? found.map(({ address }) => address) : [];
  const vips = config.vips.map(({ address }) => address);
  return observed.proof === 'proven' ? vips.filter((vip) => advertised.includes(vip)) : [];
}

/** A predecessor's VIP may stay when this machine's role and proof would give it back to us anyway. */
function mayKeep({ proof, role }: BootstrapStatus): boolean {
  return proof === 'proven' || (proof === 'unproven' && role === 'init');
}
