import { join } from 'node:path';
import { type ControlServer, EventLog, type Logger, readSecret } from '@bgp-lb/daemon';
import { linuxSockets } from '@bgp-lb/linux';
import { asn, parseRouterId } from '@bgp-lb/protocol';
import { systemClock } from '@bgp-lb/protocol/node';
import { makeControl } from './api/make-control.ts';
import type { AutoOptions } from './auto/auto-router.ts';
import { DataPlaneChooser } from './auto/data-plane-chooser.ts';
import { UndecidedDataPlane } from './auto/undecided-data-plane.ts';
import { connectBfd } from './bfd/connect-bfd.ts';
import type { NeighborBfd } from './bfd/neighbor-bfd.ts';
import { StallWatch } from './bfd/stall-watch.ts';
import { BgpNeighbors, type BgpNeighborsOptions } from './bgp/bgp-neighbors.ts';
import { carriedBy } from './bgp/carried-by.ts';
import { globalAddressOn } from './bgp/global-address.ts';
import { identityHost } from './bgp/identity-host.ts';
import { isForwardedTo } from './bgp/is-forwarded-to.ts';
import { namedNeighbor } from './bgp/named-neighbor.ts';
import { canonicalText, localAddressOf } from './bgp/neighbor-options.ts';
import { chooseRouterId } from './bgp/router-identity.ts';
import { TouchedVips } from './bgp/touched-vips.ts';
import { UpstreamAdvertiser } from './bgp/upstream-advertiser.ts';
import { CurrentConfig } from './config/current-config.ts';
import type { ChosenConfig, RouterConfig } from './config/router-config.ts';
import { stateFiles } from './config/state-files.ts';
import { announcedVips } from './config/vip-endpoint.ts';
import type { DataPlane } from './dataplane/data-plane.ts';
import { DataPlaneTrouble } from './dataplane/data-plane-trouble.ts';
import { makeDataPlane } from './dataplane/make-data-plane.ts';
import { HostDrain } from './drain/host-drain.ts';
import { MemberDrains } from './drain/member-drains.ts';
import type { ClientWatch } from './evidence/client-watch.ts';
import { watchClients } from './evidence/watch-clients.ts';
import { CaFile } from './health/ca-file.ts';
import { VipHealthChecker } from './health/vip-health-checker.ts';
import { InstanceReporter } from './instance/instance-reporter.ts';
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
import { PathTester } from './paths/path-tester.ts';
import { PoolController } from './pool/pool-controller.ts';
import { VipPools } from './pool/vip-pools.ts';
import { Rebalancer } from './rebalance/rebalancer.ts';
import { ConfigReload } from './reload/config-reload.ts';
import { makeVirtualRouter, type RunningVirtualRouter } from './vrrp/make-virtual-router.ts';

/** The newest events that are kept. */
const EVENTS_KEPT = 1000;

export interface RouterOptions {
  readonly config: ChosenConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => ChosenConfig;
  /** Where the data plane is chosen by what members show. */
  readonly auto?: AutoOptions;
  /** What the BFD thread runs. */
  readonly program: URL;
  readonly logger: Logger;
  readonly version: string;
  /** Tells the service manager, by lines of sd_notify(3), where there is one. */
  readonly notify?: ((state: string) => void) | undefined;
}

/** What the router consists of, as far as it begins or ends. */
export interface RouterParts {
  readonly current: CurrentConfig;
  readonly observer: RouterObserver;
  readonly pools: VipPools;
  readonly dataPlane: DataPlane;
  readonly trouble: DataPlaneTrouble;
  readonly forwardingTimes: ForwardingTimes;
  readonly health: VipHealthChecker;
  readonly controller: PoolController;
  readonly onLink: OnLinkResponder;
  /** Undefined where this host has no part in VRRP. */
  readonly vrrp: RunningVirtualRouter | undefined;
  readonly bgp: BgpNeighbors;
  readonly membership: MembershipSources;
  readonly stalls: StallWatch;
  readonly bfd: NeighborBfd;
  readonly touched: TouchedVips;
  readonly rebalancer: Rebalancer;
  readonly clients: ClientWatch;
  readonly drain: HostDrain;
  readonly memberDrains: MemberDrains;
  readonly reload: ConfigReload;
  readonly serviceStatus: ServiceStatus;
  readonly instance: InstanceReporter;
  readonly control: ControlServer;
  /** Only while the data plane is to be chosen. */
  readonly chooser: DataPlaneChooser | undefined;
}

/**
 * Builds everything, and starts nothing. The only place that knows every implementation. Parts that are told of each other meet in the
 * functions that they are given, which are called from `start` on.
 */
export function makeRouterParts(options: RouterOptions): RouterParts {
  const { config, logger, version } = options;
  const clock = systemClock;
  const now = (): number => clock.now();
  const startedAt = now();
  const metrics = new RouterMetrics(version);
  const events = new EventLog({ capacity: EVENTS_KEPT, clock });
  const recorder = new MessageRecorder({ wallClock: preciseWallClock() });
  const observer = new RouterObserver({ logger, events, metrics, clock });
  const routerId = chooseRouterId(config, identityHost(), (problem) => observer.problem(problem));
  const stalls = new StallWatch(systemClock, metrics.metrics.noteLag);
  const current = new CurrentConfig(config);
  const ca = new CaFile(config.healthCheck.caFile, now);
  const pools = new VipPools(config);
  const forwardingTimes = new ForwardingTimes(now, config);
  const { auto } = options;
  const wanted = makeDataPlane(config, observer, current, ca, pools.all);
  const undecided =
    auto !== undefined && auto.choice === undefined ? new UndecidedDataPlane(wanted) : undefined;
  const dataPlane = undecided ?? wanted;
  const onLink = makeOnLinkResponder(config, clock, observer);
  const vrrp = makeVirtualRouter(config, current, pools.all, clock, {
    changed: (change) => {
      onLink.setOwner(change.to === 'master');
      observer.vrrp(change);
    },
    contested: () => onLink.announceAgain(),
    problem: (problem) => observer.problem(problem === undefined ? 'VRRP is as wanted' : `VRRP: ${problem}`),
    repaired: (what) => observer.repaired(what),
  });

  const bgp: BgpNeighbors = new BgpNeighbors({
    ...fixedBgpOptions(config),
    routerId,
    clusterId: config.clusterId === undefined ? routerId : parseRouterId(config.clusterId),
    isUsable: (path, { role }) => isForwardedTo(path, pools.all, dataPlane) ?? role !== 'master',
    clock,
    observe: (peer, event) => {
      if (peer && event.type === 'forgotten') bfd.forget(canonicalText(peer.address));
      observer.neighbor(peer && namedNeighbor(bgp, peer), event);
      // An upstream that is lost, or back, changes what is advertised.
      if (event.type === 'transition') serviceStatus.touch();
    },
    established: (peer, neighbor) =>
      bfd.sessionEstablished(canonicalText(peer.address), neighbor, localAddressOf(peer)),
    down: (peer) => bfd.sessionLost(canonicalText(peer.address)),
    traffic: (peer, traffic) => recorder.record(peer, traffic),
    observeRoutes: (peer, change) => observer.rejected(namedNeighbor(bgp, peer), change),
    onSkippedListener: (address, reason) => observer.problem(`not listening on ${address}: ${reason}`),
  });
  const advertiser = new UpstreamAdvertiser(bgp, globalAddressOn);
  const membership = makeMembershipSources({
    ...{ initial: config, bgp, pools: pools.all, clock, observer },
    isDoubted: (nextHop) => stalls.isSuspicious || bfd.isDoubted(nextHop),
  });
  const bfd: NeighborBfd = connectBfd({
    ...{ program: options.program, bgp, membership, advertiser, stalls, observer },
  });

  const drain: HostDrain = new HostDrain(clock, (phase) => {
    observer.drain(phase);
    advertiser.setDrain(phase);
    vrrp?.router.setDrained(phase !== 'none');
    touched.touch(...pools.all.keys());
  });
  const touched: TouchedVips = new TouchedVips((vips) => {
    // One that went within this turn was withdrawn when it did.
    const carried = carriedBy(vips, pools.all, dataPlane);
    advertiser.setAdvertised(carried);
    for (const [vip, { members }] of carried) {
      onLink.setServing(vip.split('/')[0] ?? vip, members > 0 && drain.phase === 'none');
      bgp.touch(vip);
    }
    serviceStatus.touch();
  });
  const serviceStatus: ServiceStatus = new ServiceStatus({
    clock,
    read: () => {
      const vips = servedVips(pools.all, dataPlane, advertiser);
      return serviceStatusLine(vips, drain.phase !== 'none', dataPlane.title, trouble.problem);
    },
    tell: (line) => options.notify?.(line),
  });
  const trouble = new DataPlaneTrouble(dataPlane, () => serviceStatus.touch());

  const health: VipHealthChecker = new VipHealthChecker({
    ...{ config, dataPlane, ca, clock },
    lost: () => stalls.lost,
    onResult: (vip, nextHop, result) => {
      observer.probe(vip, nextHop, result);
      controller.probed(vip, nextHop, result);
    },
  });
  const controller: PoolController = new PoolController({
    ...{ pools: pools.all, dataPlane, clock },
    setTargets: (vip, targets) => health.setTargets(vip, targets),
    onChanged: (vip) => touched.touch(vip),
    onTransition: (vip, transition) => {
      observer.transition(vip, transition);
      serviceStatus.touch();
    },
  });
  const memberDrains = new MemberDrains({
    path: join(config.stateDir, stateFiles.memberDrains),
    ...{ pools: pools.all, clock, wallClock: Date.now },
    apply: (nextHop, order) => controller.drain(nextHop, order),
    changed: (member, order) => observer.memberDrain(member, order),
  });
  const rebalancer = new Rebalancer(dataPlane, clock, (rebalance) => observer.rebalanced(rebalance));
  const clients = watchClients({
    ...{ config: () => current.config, pools: pools.all, dataPlane, clock, observer },
    doubt: (vip, doubts) => controller.doubt(vip, doubts),
  });

  const instance = new InstanceReporter({
    ...{ clock, wallClock: Date.now, version, pools: pools.all },
    config: () => current.config,
    drift: () => trouble.problem,
    hindrance: (vip) =>
      dataPlane.obstacle(vip) ?? trouble.unable ?? (drain.phase === 'none' ? undefined : 'it is drained'),
    problem: (text) => observer.problem(text),
  });

  const reload = new ConfigReload({
    ...{ current, reread: options.reread, logger, observer },
    parts: {
      ...{ bgp, bfd, advertiser, membership, pools, controller, rebalancer, dataPlane, onLink },
      ...{ forwardingTimes, health, ca },
    },
  });
  const paths = new PathTester({ config: () => current.config, pools: pools.all, dataPlane, ca });
  const chooser =
    undecided &&
    new DataPlaneChooser({
      ...{ dataPlane: undecided, test: () => paths.test(), clock, wallClock: Date.now },
      decided: (choice) => {
        auto?.decided(choice);
        observer.dataPlaneChosen(choice);
      },
      problem: (text) => observer.problem(text),
    });
  if (auto?.choice !== undefined) observer.dataPlaneChosen(auto.choice);
  for (const problem of auto?.problems ?? []) observer.problem(problem);
  const control = makeControl({
    sources: {
      ...{ config: () => current.config, routerId, version, pools: pools.all, dataPlane, onLink, bgp, bfd },
      ...{ forwardingTimes, membership, advertiser, rebalancer, drain, memberDrains, ca, clients, now },
      ...{ startedAt, paths, auto: () => chooser?.status() ?? auto?.choice, virtualRouter: vrrp?.router },
    },
    routes: [reload.route(), mrtRoute(recorder)],
    ...{ metrics, events, logger },
  });
  return {
    ...{ current, observer, pools, dataPlane, trouble, forwardingTimes, health, controller, onLink, vrrp },
    ...{ bgp, membership, stalls, bfd, touched, rebalancer, clients, drain, memberDrains, reload },
    ...{ serviceStatus, instance, control, chooser },
  };
}

/** What the BGP speaker has of the configuration that it was started with. */
function fixedBgpOptions(
  config: RouterConfig,
): Pick<
  BgpNeighborsOptions,
  'asn' | 'neighbors' | 'listen' | 'context' | 'vips' | 'readPassword' | 'sockets'
> {
  return {
    asn: asn(config.asn),
    neighbors: config.neighbors,
    listen: config.listen,
    context: { config },
    vips: announcedVips(config),
    readPassword: readSecret,
    sockets: linuxSockets,
  };
}
