import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  acquireInstanceLock,
  ControlServer,
  EventLog,
  type InstanceLock,
  type Logger,
  type RunningDaemon,
  readSecret,
} from '@bgp-lb/daemon';
import { linuxSockets, RouteSocket } from '@bgp-lb/linux';
import { asn, type RouterId } from '@bgp-lb/protocol';
import { type Peer, systemClock } from '@bgp-lb/protocol/node';
import { type ControlSources, controlRoutes, readiness } from './api/control-routes.ts';
import { BgpNeighbors } from './bgp/bgp-neighbors.ts';
import { hostPrefix } from './bgp/neighbor-options.ts';
import { chooseRouterId } from './bgp/router-identity.ts';
import { UpstreamAdvertiser } from './bgp/upstream-advertiser.ts';
import type { RouterConfig } from './config/router-config.ts';
import type { DataPlane } from './dataplane/data-plane.ts';
import { KernelDataPlane } from './dataplane/kernel/kernel-data-plane.ts';
import { linuxKernelHost } from './dataplane/kernel/kernel-host.ts';
import { CaFile } from './health/ca-file.ts';
import { HealthChecker, probeThrough } from './health/health-checker.ts';
import { BgpMembership } from './membership/bgp-membership.ts';
import type { MembershipSource } from './membership/membership-source.ts';
import { RouterMetrics } from './observe/router-metrics.ts';
import { type NamedNeighbor, RouterObserver } from './observe/router-observer.ts';
import type { WeightedNextHop } from './pool/member-view.ts';
import { Pool } from './pool/pool.ts';
import { PoolController } from './pool/pool-controller.ts';

/** Everything in the kernel is looked at this often, whatever the kernel says (ms). */
const REPAIR_INTERVAL = 30_000;
/** The newest events that are kept. */
const EVENTS_KEPT = 1000;

export interface RouterOptions {
  readonly config: RouterConfig;
  readonly logger: Logger;
  readonly version: string;
}

/** Builds the router, takes over what the kernel has, and starts it. The only place that knows every implementation. */
export async function startRouter({ config, logger, version }: RouterOptions): Promise<RunningDaemon> {
  mkdirSync(config.stateDir, { recursive: true, mode: 0o755 });
  const lock = await acquireInstanceLock(join(config.stateDir, 'router.lock'));
  const router = new Router({ config, logger, version }, lock);
  await router.start();
  return { stop: () => router.stop() };
}

class Router {
  #options: RouterOptions;
  #lock: InstanceLock;
  #clock = systemClock;
  #startedAt = systemClock.now();
  #metrics = new RouterMetrics();
  #events: EventLog;
  #observer: RouterObserver;
  #ca: CaFile;
  #pools: ReadonlyMap<string, Pool>;
  #dataPlane: DataPlane;
  #health: HealthChecker;
  #controller: PoolController;
  #membership: MembershipSource | undefined;
  #control: ControlServer | undefined;

  constructor(options: RouterOptions, lock: InstanceLock) {
    const { config, logger } = options;
    const now = (): number => this.#clock.now();
    this.#options = options;
    this.#lock = lock;
    this.#events = new EventLog({ capacity: EVENTS_KEPT, clock: this.#clock });
    this.#observer = new RouterObserver({ logger, events: this.#events, metrics: this.#metrics, now });
    this.#ca = new CaFile(config.healthCheck.caFile, now);
    this.#pools = makePools(config);
    this.#dataPlane = makeDataPlane(config, (error) => this.#observer.problem(error.message));
    this.#health = this.#makeHealthChecker();
    this.#controller = new PoolController({
      pools: this.#pools,
      dataPlane: this.#dataPlane,
      clock: this.#clock,
      setTargets: (vip, targets) => this.#health.setTargets(vip, targets),
      onTransition: (vip, transition) => this.#observer.transition(vip, transition),
    });
  }

  async start(): Promise<void> {
    const { config } = this.#options;
    const routerId = chooseRouterId(config, identityHost());
    let advertiser: UpstreamAdvertiser | undefined;
    // The floor and what was there before: from here on the VIP neither loops nor hangs, and BGP may begin.
    const adopted = await this.#dataPlane.start({
      forwarding: (vip, nextHops) => {
        this.#observer.forwarding(vip, nextHops);
        advertiser?.setAdvertised(vip, nextHops.length > 0);
      },
      configured: (settings) => this.#observer.configured(settings),
      repaired: (operations) => this.#observer.repaired(operations),
      operation: (kind, tookMs, error) => this.#observer.operation(kind, tookMs, error),
    });
    this.#reportProblems();
    const bgp = this.#makeNeighbors(routerId, isForwarding(adopted));
    advertiser = new UpstreamAdvertiser(bgp);
    for (const vip of this.#pools.keys()) {
      advertiser.setAdvertised(vip, this.#dataPlane.forwarding(vip).length > 0);
      this.#controller.adopt(vip, adopted.get(vip) ?? []);
    }
    await this.#startControl(routerId, bgp, advertiser);
    const membership = new BgpMembership(bgp);
    this.#membership = membership;
    await membership.start((event) => this.#controller.membership(event));
  }

  /** The kernel forwards on, masters and upstreams keep what they have; nothing else is left behind (invariant 6). */
  async stop(): Promise<void> {
    await this.#membership?.stop();
    this.#controller.close();
    this.#health.close();
    await this.#dataPlane.stop();
    await this.#control?.close();
    this.#metrics.metrics.close();
    this.#lock.release();
  }

  #makeHealthChecker(): HealthChecker {
    const { config } = this.#options;
    const { path, serverName, timeout, interval } = config.healthCheck;
    return new HealthChecker({
      interval,
      clock: this.#clock,
      probe: (vip, nextHop) =>
        probeThrough({
          ...endpointOf(config, vip),
          serverName,
          path,
          timeoutMs: timeout,
          ca: () => this.#ca.text,
          open: () => this.#dataPlane.socketThrough(nextHop, endpointOf(config, vip).address),
        }),
      onResult: (vip, nextHop, result) => {
        this.#observer.probe(vip, nextHop, result);
        this.#controller.probed(vip, nextHop, result);
      },
    });
  }

  #makeNeighbors(routerId: RouterId, isRestarting: boolean): BgpNeighbors {
    const { config } = this.#options;
    const bgp: BgpNeighbors = new BgpNeighbors({
      asn: asn(config.asn),
      routerId,
      neighbors: config.neighbors,
      listen: config.listen,
      context: { config, readPassword: readSecret, isRestarting },
      sockets: linuxSockets,
      clock: this.#clock,
      observe: (peer, event) => this.#observer.neighbor(peer && named(bgp, peer), event),
      observeRoutes: (peer, change) => this.#observer.rejected(named(bgp, peer), change),
      onSkippedListener: (address, reason) =>
        this.#observer.problem(`not listening on ${address}: ${reason}`),
    });
    return bgp;
  }

  async #startControl(routerId: RouterId, bgp: BgpNeighbors, advertiser: UpstreamAdvertiser): Promise<void> {
    const { config, logger, version } = this.#options;
    const sources: ControlSources = {
      config,
      routerId,
      version,
      pools: this.#pools,
      dataPlane: this.#dataPlane,
      bgp,
      advertiser,
      ca: this.#ca,
      now: () => this.#clock.now(),
      startedAt: this.#startedAt,
    };
    this.#observeGauges(bgp);
    this.#control = new ControlServer({
      socketPath: config.api.socket,
      listen: config.api.listen,
      allowedHosts: config.api.allowedHosts,
      routes: controlRoutes(sources),
      metrics: this.#metrics.metrics.registry,
      events: this.#events,
      logger,
      readiness: () => readiness(sources),
    });
    await this.#control.start();
  }

  #observeGauges(bgp: BgpNeighbors): void {
    const vips = [...this.#pools.keys()];
    this.#metrics.observe({
      members: () =>
        [...this.#pools.values()].flatMap((pool) =>
          pool.members().map(({ name, state, weight }) => ({ vip: pool.vip, member: name, state, weight })),
        ),
      shares: () =>
        this.#dataPlane
          .status({ shares: true })
          .vips.flatMap(({ vip, members }) =>
            members.map(({ nextHop, share, buckets }) => ({ vip, member: nextHop, share, buckets })),
          ),
      forwarding: () => vips.map((vip) => ({ vip, forwarding: this.#dataPlane.forwarding(vip).length > 0 })),
      sessions: () => bgp.peers().map(({ peer, neighbor }) => ({ role: neighbor.role, state: peer.state })),
      rejectedConnections: () => bgp.rejectedConnections,
    });
  }

  #reportProblems(): void {
    for (const problem of this.#dataPlane.status({ shares: false }).problems) {
      this.#observer.problem(problem);
    }
  }
}

function makePools({ vips, healthCheck, pool, neighbors }: RouterConfig): Map<string, Pool> {
  const masters = neighbors.filter(({ role }) => role === 'master');
  // Whoever is in a range is not known beforehand: then there is no saying that all are there.
  const isClosed = masters.every(({ address }) => address !== undefined);
  return new Map(
    vips.map(({ address }) => {
      const expected = masters.flatMap((one) => (one.address === undefined ? [] : [one.address]));
      const settings = {
        ...pool,
        rise: healthCheck.rise,
        fall: healthCheck.fall,
        expected: isClosed ? expected.filter((one) => one.includes(':') === address.includes(':')) : [],
      };
      return [hostPrefix(address), new Pool(hostPrefix(address), settings)];
    }),
  );
}

function makeDataPlane(
  { vips, dataplane, manageSysctls }: RouterConfig,
  onError: (error: Error) => void,
): DataPlane {
  return new KernelDataPlane(
    {
      ...dataplane,
      vips: vips.map(({ address, port }) => ({ prefix: hostPrefix(address), address, port })),
      manageSysctls,
      repairInterval: REPAIR_INTERVAL,
    },
    linuxKernelHost(systemClock, onError),
  );
}

function isForwarding(adopted: ReadonlyMap<string, readonly WeightedNextHop[]>): boolean {
  return [...adopted.values()].some((members) => members.length > 0);
}

function endpointOf({ vips }: RouterConfig, vip: string): { address: string; port: number } {
  const found = vips.find(({ address }) => hostPrefix(address) === vip);
  if (found === undefined) {
    throw new RangeError(`VIP ${vip}: not configured`);
  }
  return { address: found.address, port: found.port };
}

function named(bgp: BgpNeighbors, peer: Peer): NamedNeighbor {
  const neighbor = bgp.neighborOf(peer);
  return { peer: peer.name, neighbor: neighbor?.name ?? peer.name, role: neighbor?.role ?? 'unknown' };
}

function identityHost(): {
  sourceTowards(address: string): string | undefined;
  machineId(): string | undefined;
} {
  return {
    sourceTowards(address) {
      const socket = new RouteSocket();
      try {
        return socket.routeTo(address).source;
      } catch {
        // No route there: the next neighbour may have one.
        return undefined;
      } finally {
        socket.close();
      }
    },
    machineId() {
      try {
        return readFileSync('/etc/machine-id', 'utf8').trim() || undefined;
      } catch {
        return undefined;
      }
    },
  };
}
