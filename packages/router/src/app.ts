import { join } from 'node:path';
import { type ControlServer, EventLog, type InstanceLock, type Logger, readSecret } from '@bgp-lb/daemon';
import { linuxSockets } from '@bgp-lb/linux';
import { asn, parseRouterId, type RouterId } from '@bgp-lb/protocol';
import { systemClock } from '@bgp-lb/protocol/node';
import type { ControlSources } from './api/control-routes.ts';
import { startControl } from './api/start-control.ts';
import { connectBfd } from './bfd/connect-bfd.ts';
import type { NeighborBfd } from './bfd/neighbor-bfd.ts';
import { StallWatch } from './bfd/stall-watch.ts';
import { awaitedListeners } from './bgp/awaited-listeners.ts';
import { BgpNeighbors } from './bgp/bgp-neighbors.ts';
import { carriedBy } from './bgp/carried-by.ts';
import { globalAddressOn } from './bgp/global-address.ts';
import { identityHost } from './bgp/identity-host.ts';
import { isForwardedTo } from './bgp/is-forwarded-to.ts';
import { namedNeighbor } from './bgp/named-neighbor.ts';
import { canonicalText, localAddressOf } from './bgp/neighbor-options.ts';
import { chooseRouterId } from './bgp/router-identity.ts';
import { TouchedVips } from './bgp/touched-vips.ts';
import { UpstreamAdvertiser } from './bgp/upstream-advertiser.ts';

import { configWarnings } from './config/config-warnings.ts';
import type { RouterConfig } from './config/router-config.ts';
import { stateFiles } from './config/state-files.ts';
import { announcedVips } from './config/vip-endpoint.ts';
import type { DataPlane } from './dataplane/data-plane.ts';
import { makeDataPlane } from './dataplane/make-data-plane.ts';
import { type DrainPhase, HostDrain } from './drain/host-drain.ts';
import { MemberDrains } from './drain/member-drains.ts';
import type { ClientWatch } from './evidence/client-watch.ts';
import { watchClients } from './evidence/watch-clients.ts';
import { CaFile } from './health/ca-file.ts';
import type { HealthChecker } from './health/health-checker.ts';
import { vipHealthChecker } from './health/vip-health-checker.ts';
import { makeMembershipSources } from './membership/make-membership-sources.ts';
import type { MembershipSources } from './membership/membership-sources.ts';
import { MessageRecorder, preciseWallClock } from './mrt/message-recorder.ts';
import { mrtRoute } from './mrt/mrt-route.ts';
import { ForwardingTimes } from './observe/forwarding-times.ts';
import { RouterMetrics } from './observe/router-metrics.ts';
import { RouterObserver } from './observe/router-observer.ts';
import { ServiceStatus, servedVips, serviceStatusLine } from './observe/service-status.ts';
import { makeOnLinkResponder } from './on-link/make-on-link-responder.ts';
import type { OnLinkResponder } from './on-link/on-link-responder.ts';
import { PoolController } from './pool/pool-controller.ts';
import { VipPools } from './pool/vip-pools.ts';
import { type Rebalance, Rebalancer } from './rebalance/rebalancer.ts';
import { ConfigReload } from './reload/config-reload.ts';

/** The newest events that are kept. */
const EVENTS_KEPT = 1000;

export interface RouterOptions {
  readonly config: RouterConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => RouterConfig;
  /** What the BFD thread runs. */
  readonly program: URL;
  readonly logger: Logger;
  readonly version: string;
  /** Tells the service manager, by lines of sd_notify(3), where there is one. */
  readonly notify?: ((state: string) => void) | undefined;
}

/** The router with all its parts. The only place that knows every implementation. */
export class Router {
  #options: RouterOptions;
  #lock: InstanceLock;
  #clock = systemClock;
  #startedAt = systemClock.now();
  #metrics: RouterMetrics;
  #events: EventLog;
  #recorder = new MessageRecorder({ wallClock: preciseWallClock() });
  #observer: RouterObserver;
  #ca: CaFile;
  #pools: VipPools;
  #dataPlane: DataPlane;
  #health: HealthChecker;
  #controller: PoolController;
  #onLink: OnLinkResponder;
  #membership: MembershipSources | undefined;
  #stalls: StallWatch;
  #bfd: NeighborBfd | undefined;
  #bgp: BgpNeighbors | undefined;
  #advertiser: UpstreamAdvertiser | undefined;
  #touched = new TouchedVips((vips) => this.#announce(vips));
  #control: ControlServer | undefined;
  #rebalancer: Rebalancer;
  #clients: ClientWatch;
  #drain: HostDrain;
  #memberDrains: MemberDrains;
  #reload: ConfigReload;
  #serviceStatus: ServiceStatus;
  #forwardingTimes: ForwardingTimes;
  /** Why the data plane is not as wanted. */
  #failing: string | undefined;
  /** Why the data plane could change nothing, when that was last looked at. */
  #unable: string | undefined;

  constructor(options: RouterOptions, lock: InstanceLock) {
    const { config, logger } = options;
    const now = (): number => this.#clock.now();
    this.#options = options;
    this.#lock = lock;
    this.#metrics = new RouterMetrics(options.version);
    this.#stalls = new StallWatch(systemClock, this.#metrics.metrics.noteLag);
    this.#events = new EventLog({ capacity: EVENTS_KEPT, clock: this.#clock });
    const clock = this.#clock;
    this.#observer = new RouterObserver({ logger, events: this.#events, metrics: this.#metrics, clock });
    this.#reload = new ConfigReload({ config, reread: options.reread, logger, observer: this.#observer });
    this.#ca = new CaFile(config.healthCheck.caFile, now);
    this.#pools = new VipPools(config);
    this.#forwardingTimes = new ForwardingTimes(now, [...this.#pools.all.keys()]);
    this.#dataPlane = makeDataPlane(config, this.#observer, this.#reload, this.#ca, this.#pools.all);
    this.#onLink = makeOnLinkResponder(config, this.#clock, this.#observer);
    this.#serviceStatus = new ServiceStatus({
      clock: this.#clock,
      read: () => this.#statusLine(),
      tell: (line) => options.notify?.(line),
    });
    this.#health = vipHealthChecker({
      config: () => this.#reload.config,
      dataPlane: this.#dataPlane,
      ca: this.#ca,
      clock: this.#clock,
      lost: () => this.#stalls.lost,
      onResult: (vip, nextHop, result) => {
        this.#observer.probe(vip, nextHop, result);
        this.#controller.probed(vip, nextHop, result);
      },
    });
    this.#drain = new HostDrain(this.#clock, (phase) => this.#drained(phase));
    this.#memberDrains = new MemberDrains({
      path: join(config.stateDir, stateFiles.memberDrains),
      pools: this.#pools.all,
      clock: this.#clock,
      wallClock: Date.now,
      apply: (nextHop, drain) => this.#controller.drain(nextHop, drain),
      changed: (member, order) => this.#observer.memberDrain(member, order),
    });
    const rebalanced = (rebalance: Rebalance): void => this.#observer.rebalanced(rebalance);
    this.#rebalancer = new Rebalancer(this.#dataPlane, this.#clock, rebalanced);
    this.#clients = watchClients({
      config: () => this.#reload.config,
      pools: this.#pools.all,
      dataPlane: this.#dataPlane,
      clock: this.#clock,
      observer: this.#observer,
      doubt: (vip, doubts) => this.#controller.doubt(vip, doubts),
    });
    this.#controller = new PoolController({
      pools: this.#pools.all,
      dataPlane: this.#dataPlane,
      clock: this.#clock,
      setTargets: (vip, targets) => this.#health.setTargets(vip, targets),
      onChanged: (vip) => this.#touched.touch(vip),
      onTransition: (vip, transition) => {
        this.#observer.transition(vip, transition);
        this.#serviceStatus.touch();
      },
    });
  }

  async start(): Promise<void> {
    const { config } = this.#options;
    const routerId = chooseRouterId(config, identityHost(), (problem) => this.#observer.problem(problem));
    // The floor and what was there before: from here on the VIP neither loops nor hangs, and BGP may begin.
    const adopted = await this.#dataPlane.start({
      forwarding: (vip, nextHops) => {
        this.#forwardingTimes.changed(vip, nextHops);
        this.#observer.forwarding(vip, nextHops);
        this.#touched.touch(vip);
      },
      obstacle: (vip, obstacle) => {
        this.#observer.obstacle(vip, obstacle);
        this.#touched.touch(vip);
      },
      link: (nextHop, problem) => this.#controller.link(nextHop, problem),
      configured: (settings) => this.#observer.configured(settings),
      repaired: (operations) => this.#observer.repaired(operations),
      failing: (problem) => {
        this.#failing = problem;
        this.#observer.failing(problem);
        this.#serviceStatus.touch();
      },
      operation: (kind, tookMs, error) => this.#observer.operation(kind, tookMs, error),
    });
    this.#reportProblems();
    const bgp = this.#makeNeighbors(routerId, [...adopted.values()].flat().length > 0);
    this.#bgp = bgp;
    const advertiser = new UpstreamAdvertiser(bgp, globalAddressOn);
    this.#advertiser = advertiser;
    const drainProblem = this.#memberDrains.restore();
    if (drainProblem !== undefined) this.#observer.problem(drainProblem);
    for (const vip of this.#pools.all.keys()) {
      this.#controller.adopt(vip, adopted.get(vip) ?? []);
    }
    // Upstreams hear of what is forwarded before their End-of-RIB.
    this.#touched.touch(...this.#pools.all.keys());
    this.#touched.flush();
    const membership = makeMembershipSources({
      ...{ initial: config, bgp, pools: this.#pools.all, clock: this.#clock, observer: this.#observer },
      isDoubted: (nextHop) => this.#stalls.isSuspicious || this.#bfd?.isDoubted(nextHop) === true,
    });
    this.#membership = membership;
    const bfd = connectBfd({
      program: this.#options.program,
      bgp,
      membership,
      advertiser,
      stalls: this.#stalls,
      observer: this.#observer,
    });
    this.#bfd = bfd;
    this.#reload.begin({
      bgp,
      bfd,
      advertiser,
      membership,
      pools: this.#pools,
      controller: this.#controller,
      rebalancer: this.#rebalancer,
      dataPlane: this.#dataPlane,
      onLink: this.#onLink,
      forwardingTimes: this.#forwardingTimes,
      health: this.#health,
      ca: this.#ca,
    });
    this.#control = await startControl({
      sources: this.#controlSources({ routerId, bgp, bfd, advertiser, membership }),
      routes: [this.#reload.route(), mrtRoute(this.#recorder)],
      metrics: this.#metrics,
      events: this.#events,
      logger: this.#options.logger,
    });
    await membership.start((events) => {
      this.#controller.membership(events);
      for (const event of events) {
        // Its path may have other attributes, which upstreams that get it unchanged are to have.
        if (event.type === 'announced') this.#touched.touch(event.vip);
      }
    });
    bfd.start();
    this.#onLink.start();
    this.#clients.start();
    this.#stalls.start();
  }

  #announce(vips: readonly string[]): void {
    // One that went within this turn was withdrawn when it did.
    const carried = carriedBy(vips, this.#pools.all, this.#dataPlane);
    this.#advertiser?.setAdvertised(carried);
    for (const [vip, { members }] of carried) {
      this.#onLink.setServing(vip.split('/')[0] ?? vip, members > 0 && this.#drain.phase === 'none');
      this.#bgp?.touch(vip);
    }
    this.#serviceStatus.touch();
  }

  #statusLine(): string {
    const vips = servedVips(this.#pools.all, this.#dataPlane, this.#advertiser);
    const problem = this.#unable ?? this.#failing;
    return serviceStatusLine(vips, this.#drain.phase !== 'none', this.#dataPlane.kind, problem);
  }

  #drained(phase: DrainPhase): void {
    this.#observer.drain(phase);
    this.#advertiser?.setDrain(phase);
    this.#touched.touch(...this.#pools.all.keys());
  }

  /** SIGHUP. Rejects with the reason when nothing is taken. */
  async reload(): Promise<void> {
    this.#reload.take();
  }

  /**
   * Rejects when the kernel does not answer, or lets us change nothing, or the BFD thread does not answer: then members that die
   * stay in use, and a new start may cure it, which costs no packet. An empty pool, a session that is down and a kernel that refuses one request are
   * none of that: a start would change nothing.
   */
  async checkWell(): Promise<void> {
    this.#checkDataPlane();
    await this.#bfd?.checkAnswers();
  }

  #checkDataPlane(): void {
    const before = this.#unable;
    try {
      this.#dataPlane.checkAble();
      this.#unable = undefined;
    } catch (error) {
      this.#unable = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      if (this.#unable !== before) this.#serviceStatus.touch();
    }
  }

  /** The kernel forwards on, masters and upstreams keep what they have; nothing else is left behind (invariant 6). */
  async stop(): Promise<void> {
    this.#touched.close();
    this.#bfd?.detach();
    this.#stalls.stop();
    await this.#membership?.stop();
    // After the sessions: FRR 8.4 takes AdminDown for death, and would drop what it is to keep (RFC 5882 section 4.2 says otherwise).
    await this.#bfd?.stop();
    this.#onLink.stop();
    this.#clients.stop();
    this.#controller.close();
    this.#rebalancer.close();
    this.#drain.close();
    this.#serviceStatus.close();
    this.#health.close();
    await this.#dataPlane.stop();
    this.#observer.close();
    await this.#control?.close();
    this.#lock.release();
  }

  #makeNeighbors(routerId: RouterId, isRestarting: boolean): BgpNeighbors {
    const { config } = this.#options;
    const bgp: BgpNeighbors = new BgpNeighbors({
      asn: asn(config.asn),
      routerId,
      clusterId: config.clusterId === undefined ? routerId : parseRouterId(config.clusterId),
      isUsable: (path, { role }) =>
        isForwardedTo(path, this.#pools.all, this.#dataPlane) ?? role !== 'master',
      neighbors: config.neighbors,
      listen: config.listen,
      context: { config, isRestarting },
      vips: announcedVips(config),
      readPassword: readSecret,
      sockets: linuxSockets,
      clock: this.#clock,
      observe: (peer, event) => {
        if (peer && event.type === 'forgotten') this.#bfd?.forget(canonicalText(peer.address));
        this.#observer.neighbor(peer && namedNeighbor(bgp, peer), event);
        // An upstream that is lost, or back, changes what is advertised.
        if (event.type === 'transition') this.#serviceStatus.touch();
      },
      established: (peer, neighbor) =>
        this.#bfd?.sessionEstablished(canonicalText(peer.address), neighbor, localAddressOf(peer)),
      down: (peer) => this.#bfd?.sessionLost(canonicalText(peer.address)),
      traffic: (peer, traffic) => this.#recorder.record(peer, traffic),
      observeRoutes: (peer, change) => this.#observer.rejected(namedNeighbor(bgp, peer), change),
      onSkippedListener: (address, reason) =>
        this.#observer.problem(`not listening on ${address}: ${reason}`),
    });
    return bgp;
  }

  #controlSources(
    parts: Pick<ControlSources, 'routerId' | 'bgp' | 'bfd' | 'advertiser' | 'membership'>,
  ): ControlSources {
    return {
      ...parts,
      config: () => this.#reload.config,
      version: this.#options.version,
      pools: this.#pools.all,
      rebalancer: this.#rebalancer,
      drain: this.#drain,
      memberDrains: this.#memberDrains,
      dataPlane: this.#dataPlane,
      onLink: this.#onLink,
      forwardingTimes: this.#forwardingTimes,
      ca: this.#ca,
      clients: this.#clients,
      now: () => this.#clock.now(),
      startedAt: this.#startedAt,
    };
  }

  #reportProblems(): void {
    const { problems } = this.#dataPlane.status({ shares: false });
    const { config } = this.#options;
    const awaited = awaitedListeners(config.listen.addresses);
    for (const problem of [...configWarnings(config), ...awaited, ...problems]) {
      this.#observer.problem(problem);
    }
  }
}
