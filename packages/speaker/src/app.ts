import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  acquireInstanceLock,
  ControlServer,
  type Logger,
  type RunningDaemon,
  readSecret,
} from '@bgp-lb/daemon';
import { linuxSockets, Nftables, RouteSocket, SockDiag, tcpMd5Counters } from '@bgp-lb/linux';
import { BfdThread, systemClock } from '@bgp-lb/protocol/node';
import { RouterBfd } from './bfd/router-bfd.ts';
import { Advertiser } from './bgp/advertiser.ts';
import { type BootstrapStatus, BootstrapWatch } from './bootstrap/bootstrap-watch.ts';
import type { SpeakerConfig } from './config/speaker-config.ts';
import { ApiServerWatch } from './health/api-server-watch.ts';
import { checkVip } from './health/vip-check.ts';
import { type HostFacts, hostFacts, sourceTowards } from './host-facts.ts';
import { Journal } from './journal.ts';
import { ClientConnections } from './kernel/client-connections.ts';
import { HostKeeper } from './kernel/host-keeper.ts';
import { HostNetwork } from './kernel/host-network.ts';
import { Lifecycle } from './lifecycle/lifecycle.ts';
import { type DrainRequest, drainPace } from './lifecycle/lifecycle-input.ts';
import { prefixText, type SpeakerStatus, speakerStatus } from './status.ts';

/** Milliseconds between looks at markers, ca.crt and the drain file. */
const OBSERVE_INTERVAL = 200;
/** Milliseconds after which a restarted speaker no longer leaves its predecessor's announcements alone. */
const SETTLE_LIMIT = 10_000;
export interface AppOptions {
  readonly config: SpeakerConfig;
  /** What the BFD thread runs. */
  readonly program: URL;
  readonly logger: Logger;
  /** Ends the process; used when a file mount has to be made anew. */
  readonly exit: (code: number) => void;
}

/** Starts the speaker. @throws Error when something that it cannot do without is missing: the process then ends with that reason */
export async function startSpeaker(options: AppOptions): Promise<RunningDaemon> {
  const { config } = options;
  const lock = await acquireInstanceLock(join(dirname(config.api.socket), 'speaker.lock'));
  try {
    const routes = new RouteSocket();
    const passwords = new Map(
      config.routers.flatMap(({ address, passwordFile }) =>
        passwordFile === undefined ? [] : [[address, readSecret(passwordFile)] as const],
      ),
    );
    const daemon = new SpeakerDaemon({
      ...options,
      routes,
      passwords,
      facts: await hostFacts(config, routes),
      releaseLock: lock.release,
    });
    await daemon.start();
    return daemon;
  } catch (error) {
    lock.release();
    throw error;
  }
}

interface Parts extends AppOptions {
  readonly routes: RouteSocket;
  readonly passwords: ReadonlyMap<string, string>;
  readonly facts: HostFacts;
  readonly releaseLock: () => void;
}

/** The parts of the speaker and the wires between them. Decisions are made in lifecycle, health and bootstrap, not here. */
class SpeakerDaemon implements RunningDaemon {
  readonly #parts: Parts;
  readonly #bootstrap: BootstrapWatch;
  readonly #host: HostNetwork;
  readonly #keeper: HostKeeper;
  readonly #journal: Journal;
  readonly #api: ApiServerWatch;
  readonly #lifecycle: Lifecycle;
  readonly #advertiser: Advertiser;
  readonly #bfd: RouterBfd;
  readonly #clients: ClientConnections;
  readonly #control: ControlServer;
  readonly #adopted: ReadonlySet<string>;
  readonly #timers: NodeJS.Timeout[] = [];
  #observed: BootstrapStatus;
  #stopping: DrainRequest | undefined;
  #isLeaving = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { config, logger, facts } = parts;
    const { apiServer, bootstrap, vips } = config;
    this.#bootstrap = new BootstrapWatch(
      { role: config.role, caFile: apiServer.caFile, ...bootstrap },
      (message) => logger.warn(message),
    );
    this.#observed = this.#bootstrap.observe();
    this.#journal = this.#newJournal();
    this.#host = new HostNetwork({
      routes: parts.routes,
      nft: new Nftables(),
      vips,
      routers: config.routers.map(({ address }) => address),
      nodeAddress: facts.nodeAddress,
      repaired: (object, what) => this.#journal.kernelRepaired(object, what),
    });
    this.#clients = new ClientConnections({
      open: () => new SockDiag(),
      notClients: [facts.nodeAddress, ...config.routers.map(({ address }) => address)],
      reset: (report) => this.#journal.connectionsReset(report),
      failed: (error) => this.#journal.connectionsUnknown(error),
    });
    this.#keeper = new HostKeeper(this.#host, {
      failed: (error) => this.#journal.kernelFailed(error),
      leaving: (leaving) => this.#clients.reset(leaving),
    });
    this.#adopted = new Set(this.#mayKeep() ? this.#host.found().map(({ address }) => address) : []);
    this.#api = this.#newApiServerWatch();
    this.#lifecycle = this.#newLifecycle();
    this.#advertiser = this.#newAdvertiser();
    this.#bfd = this.#newRouterBfd();
    this.#control = new ControlServer({
      socketPath: config.api.socket,
      listen: config.api.listen,
      routes: [{ method: 'GET', path: '/api/v1/status', handle: () => this.#status() }],
      metrics: this.#journal.metrics.registry,
      events: this.#journal.events,
      logger,
      readiness: () => this.#readiness(),
    });
  }

  async start(): Promise<void> {
    const { config, logger, facts } = this.#parts;
    // First of all the guard, and nothing of an earlier life that is not ours to keep. Fails here when the kernel refuses.
    await this.#keeper.setBound(this.#adopted);
    await this.#control.start();
    this.#keeper.start();
    const adopted = [...this.#adopted];
    logger.info(
      {
        role: this.#observed.role,
        bootstrap: this.#observed.proof,
        nodeAddress: facts.nodeAddress,
        routerId: facts.routerId,
        adopted,
      },
      `speaker for ${config.vips.map(({ address }) => address).join(', ')}: ${this.#observed.detail}`,
    );
    this.#observe();
    this.#api.probeNow();
    this.#timers.push(
      setInterval(() => this.#observe(), OBSERVE_INTERVAL),
      setTimeout(() => this.#lifecycle.settle(), SETTLE_LIMIT),
    );
  }

  /** SIGTERM and SIGINT. Keeps everything for a successor, unless a drain is configured or asked for. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const { config, logger } = this.#parts;
    if (config.stopMode === 'drain' || existsSync(config.drain.file)) {
      await this.#drainToStop();
      await this.#leave(() => this.#advertiser.shutdown('the speaker was stopped and has drained'));
      return;
    }
    logger.info(
      { signal },
      'addresses, mappings and announcements are left as they are for the next speaker',
    );
    await this.#leave(async () => {
      await this.#keeper.pass('full').catch(() => undefined);
      await this.#advertiser.closeForSuccessor();
    });
  }

  async #drainToStop(): Promise<void> {
    this.#stopping = 'shutdown';
    this.#observe();
    const isServing = (): boolean =>
      this.#lifecycle.views().some(({ state }) => state !== 'absent' && state !== 'local-only');
    while (isServing()) await new Promise((resolve) => setTimeout(resolve, OBSERVE_INTERVAL / 2));
    this.#lifecycle.close();
    await this.#keeper.setBound(new Set());
  }

  /** Stops all parts, in this order: what decides, what watches, what speaks, what answers. */
  async #leave(sayGoodbye: () => Promise<void>): Promise<void> {
    this.#isLeaving = true;
    this.#lifecycle.close();
    this.#api.close();
    this.#keeper.close();
    for (const timer of this.#timers) clearTimeout(timer);
    // Before TCP is closed: no router is to take what follows for the death of this host.
    await this.#bfd.stop();
    await sayGoodbye();
    await this.#control.close();
    this.#parts.routes.close();
    this.#parts.releaseLock();
  }

  /** A predecessor's VIP may stay when this machine's role and proof would give it back to us anyway. */
  #mayKeep(): boolean {
    const { proof, role } = this.#observed;
    return proof === 'proven' || (proof === 'unproven' && role === 'init');
  }

  #observe(): void {
    if (this.#isLeaving) return;
    this.#observed = this.#bootstrap.observe();
    if (this.#observed.isCaUnlinked) {
      void this.#mountAnew();
      return;
    }
    if (this.#observed.isNewProof) {
      this.#journal.bootstrapProven(this.#observed.detail);
      this.#api.probeNow();
    }
    this.#decide();
  }

  #decide(): void {
    const { role, proof, detail } = this.#observed;
    const { level, isPortClosed, detail: readinessDetail } = this.#api.readiness;
    const isDraining = this.#lifecycle.views().some(({ state }) => state === 'draining');
    this.#lifecycle.update({
      role,
      bootstrap: proof,
      bootstrapDetail: detail,
      readiness: level,
      readinessDetail,
      isPortClosed,
      clients: isDraining ? this.#clients.count(this.#parts.config.vips) : undefined,
      drain: this.#drainRequest(),
    });
  }

  #drainRequest(): DrainRequest | undefined {
    return this.#stopping ?? (existsSync(this.#parts.config.drain.file) ? 'drain file' : undefined);
  }

  /** ca.crt was replaced, and the mount of this container still shows the old one: only a new container sees the new one. */
  async #mountAnew(): Promise<void> {
    const { config, logger, exit } = this.#parts;
    const text = `${config.apiServer.caFile} was replaced`;
    logger.warn(
      `${text} behind its mount: unbinding and ending, so that the container starts anew and sees the new file`,
    );
    const none = new Map(config.vips.map(({ address }) => [address, 'none'] as const));
    try {
      await this.#leave(async () => {
        this.#advertiser.advertise(none, []);
        await this.#keeper.setBound(new Set());
        await this.#advertiser.shutdown(text);
      });
    } catch (error) {
      logger.error({ err: error }, 'could not leave in order');
    }
    exit(1);
  }

  #newApiServerWatch(): ApiServerWatch {
    const { config, facts } = this.#parts;
    return new ApiServerWatch({
      ...config.apiServer,
      address: facts.nodeAddress,
      port: config.vips[0]?.machinePort ?? 6443,
      ca: () => this.#bootstrap.caPem,
      clock: systemClock,
      probed: (_, result) => {
        this.#journal.probed(result);
        if (!this.#isLeaving) this.#decide();
      },
    });
  }

  #newLifecycle(): Lifecycle {
    const { config } = this.#parts;
    const { serverName, path, timeout } = config.apiServer;
    return new Lifecycle({
      vips: config.vips,
      times: { drainTimeout: config.drain.timeout, ...drainPace },
      clock: systemClock,
      adopted: this.#adopted,
      bind: (addresses) => this.#keeper.setBound(addresses),
      advertise: (wanted, isSettled) => {
        if (isSettled) this.#advertiser.advertise(wanted, this.#observed.caKeys);
      },
      check: (vip) =>
        checkVip({
          vip,
          serverName,
          path,
          timeout,
          endpoint: config.endpoint,
          ca: () => this.#bootstrap.caPem,
        }),
      hasAdvertised: (vip) => this.#bootstrap.advertised.includes(vip),
      transition: (transition) => {
        this.#journal.vipMoved(transition);
        const { vip, to } = transition;
        if (to === 'advertised' || to === 'last-resort') this.#bootstrap.noteAdvertised(vip);
      },
    });
  }

  #newAdvertiser(): Advertiser {
    const { config, facts, passwords, routes } = this.#parts;
    return new Advertiser({
      config,
      routerId: facts.routerId,
      passwords,
      isRestarting: this.#adopted.size > 0 && this.#observed.proof === 'proven',
      sourceTowards: (router) => sourceTowards(routes, router),
      sockets: linuxSockets,
      handlers: {
        established: (peer) => {
          this.#bfd.sessionEstablished(peer.address);
          this.#journal.sessionEstablished(peer);
        },
        down: (peer, reason) => {
          this.#journal.sessionLost(peer, reason);
          this.#bfd.sessionLost(peer.address);
        },
        event: (peer, event) => this.#journal.peerEvent(peer, event),
        ignored: (router, count) => this.#journal.routesIgnored(router, count),
      },
    });
  }

  #newRouterBfd(): RouterBfd {
    const { config, program } = this.#parts;
    return new RouterBfd({
      routers: config.routers,
      start: (handlers) => new BfdThread({ entry: program, handlers }),
      dead: (router) => this.#advertiser.endDead(router),
      mayConnect: (router, isAllowed) => this.#advertiser.mayConnect(router, isAllowed),
      changed: (change, verdict) => this.#journal.bfdChanged(change, verdict),
      scheduled: (scheduling) => this.#journal.bfdScheduled(scheduling),
      failed: (what) => this.#journal.bfdFailed(what),
    });
  }

  #newJournal(): Journal {
    return new Journal(this.#parts.logger, {
      vips: () =>
        this.#lifecycle.views().map(({ vip, state, isBound, advertisement }) => ({
          vip: prefixText(vip.address),
          state,
          isBound,
          advertisement,
        })),
      isReady: () => this.#api.readiness.level === 'ready',
      isBootstrapped: () => this.#observed.proof === 'proven',
      routers: () =>
        this.#advertiser.peers().map(({ address, state }) => ({
          address,
          isEstablished: state === 'Established',
          bfd: this.#bfd.state(address),
        })),
      bfd: () => this.#bfd.status(),
    });
  }

  #readiness(): { ready: boolean; reason?: string } {
    const { fault } = this.#keeper;
    if (fault !== undefined) return { ready: false, reason: `the kernel refused a change: ${fault}` };
    const isConnected = this.#advertiser.peers().some(({ state }) => state === 'Established');
    return isConnected
      ? { ready: true }
      : { ready: false, reason: 'no BGP session with a router is established' };
  }

  async #status(): Promise<SpeakerStatus> {
    const bfd = await this.#bfd.status();
    const { config, facts, passwords } = this.#parts;
    return speakerStatus({
      config,
      ...facts,
      bootstrap: this.#observed,
      readiness: this.#api.readiness,
      drain: this.#drainRequest(),
      vips: this.#lifecycle.views(),
      peers: this.#advertiser.peers(),
      bfdState: (router) => this.#bfd.state(router),
      bfdScheduling: this.#bfd.scheduling,
      bfd,
      kernel: {
        uplinks: this.#host.uplinks,
        fault: this.#keeper.fault ?? null,
        md5: passwords.size === 0 ? null : tcpMd5Counters(),
      },
    });
  }
}
