import type { Socket } from 'node:net';
import { ipVersion } from '@bgp-lb/protocol';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import {
  type BucketMove,
  type BucketMover,
  type DataPlane,
  type DataPlaneHandlers,
  type DataPlaneStatus,
  type Difference,
  NoWayError,
  type ProbeWays,
  type StatusParts,
  type VipEndpoint,
} from '../data-plane.ts';
import { moveBuckets } from './bucket-move.ts';
import { CarriedVips } from './carried-vips.ts';
import { ConflictWatch } from './conflict-watch.ts';
import { type Resolution, ROUTE_METRIC, type Wanted } from './desired-objects.ts';
import { vipForwarding } from './forwarding-status.ts';
import { copyTargets } from './icmp-copies.ts';
import { checkWritable, readBuckets, readPackets } from './kernel-access.ts';
import type { KernelDataPlaneOptions } from './kernel-data-plane-options.ts';
import type { KernelChange, KernelHost } from './kernel-host.ts';
import { KernelReconciler, type Pass } from './kernel-reconciler.ts';
import { LinkWatch } from './link-watch.ts';
import { NamedTimers } from './named-timers.ts';
import { NextHopResolver } from './next-hop-resolver.ts';
import { NftKeeper, type NftLook } from './nft-keeper.ts';
import { ObjectIds } from './object-ids.ts';
import { describeOperation } from './operation.ts';
import { ProbeMarks } from './probe-marks.ts';
import { ReadBackTimer } from './read-back-timer.ts';
import { ReportedForwarding } from './reported-forwarding.ts';
import { concerns } from './route-interest.ts';
import { SysctlKeeper } from './sysctl-keeper.ts';

/** Two looks at the kernel are at least so far apart, however many changes it reports (ms). */
const READ_BACK_GAP = 20;
/** After a change of a link they may be closer: packets go into a cable that leads nowhere (ms). */
const LINK_GAP = 2;
/** After a refusal by the kernel, or an answer that was lost, it is tried again (ms). */
const RETRY = 500;
/** How long a VIP that is withdrawn is forwarded as it was: upstreams and packets on their way need a moment (ms). */
const LEAVE = 2000;

/** RT_TABLE_MAIN (linux/rtnetlink.h). */
const MAIN_TABLE = 254;

/** Forwards by nexthop objects, one resilient group for each VIP, and its route. */
export class KernelDataPlane implements DataPlane, ProbeWays, BucketMover {
  readonly kind = 'kernel';
  readonly title = 'the kernel';
  readonly probeWays: ProbeWays = this;
  readonly buckets: BucketMover = this;
  #options: KernelDataPlaneOptions;
  #host: KernelHost;
  #resolver: NextHopResolver;
  #reconciler: KernelReconciler;
  #nft: NftKeeper;
  #marks: ProbeMarks;
  #ids: ObjectIds;
  #links = new LinkWatch();
  #handlers: DataPlaneHandlers | undefined;
  #sysctls: SysctlKeeper;
  #conflicts: ConflictWatch;
  /** Until then what is made is no repair. */
  #isStarted = false;
  readonly #vips: CarriedVips;
  readonly #forwarding = new ReportedForwarding();
  #problems = new Map<'kernel' | 'nft' | 'sysctl', readonly string[]>();
  /** Why the kernel is not as wanted. */
  #failing: string | undefined;
  #monitor: { close(): void } | undefined;
  #timers: NamedTimers<'slow' | 'retry' | 'leave'>;
  readonly #readBackTimer: ReadBackTimer;

  constructor(options: KernelDataPlaneOptions, host: KernelHost) {
    this.#options = options;
    this.#host = host;
    this.#timers = new NamedTimers(host.clock);
    this.#readBackTimer = new ReadBackTimer(host.clock, () => this.#readBack());
    this.#resolver = new NextHopResolver(host.socket);
    this.#sysctls = new SysctlKeeper(host.sysctl, options.manageSysctls);
    this.#conflicts = new ConflictWatch({
      ...{ ...options, host, carried: () => this.#vips.all },
      forwarding: (prefix) => this.forwarding(prefix),
      interfacesTo: (nextHops) => [...this.#resolver.interfacesTo(nextHops)],
      changed: (vip, obstacle) => this.#handlers?.obstacle(vip, obstacle),
    });
    this.#marks = new ProbeMarks(options.markBase);
    this.#vips = new CarriedVips(options.vips);
    this.#nft = new NftKeeper({
      nft: host.nft,
      clock: host.clock,
      vips: () => this.#vips.all,
      replyMark: options.markBase,
      refuseUnrouted: options.table === MAIN_TABLE,
      copies: () => copyTargets(this.#vips.all, this.#forwarding.all, (one) => this.#resolver.resolve(one)),
      looked: (look) => this.#filtered(look),
    });
    this.#ids = new ObjectIds(options.vips.map(({ prefix }) => prefix));
    this.#reconciler = new KernelReconciler({
      socket: host.socket,
      resolver: this.#resolver,
      ids: this.#ids,
      protocol: options.protocol,
      now: () => host.clock.now(),
      onOperation: (kind, tookMs, error) => this.#handlers?.operation(kind, tookMs, error),
    });
  }

  async start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>> {
    this.#handlers = handlers;
    // The monitor first: what changes while we read is then seen.
    this.#monitor = this.#host.monitor({
      changed: (change) => this.#changed(change),
      nftChanged: () => this.#nft.schedule(),
      firewallChanged: () => this.#conflicts.firewallChanged(),
      overflow: () => {
        this.#readBackTimer.schedule(READ_BACK_GAP);
        this.#nft.schedule();
        this.#conflicts.firewallChanged();
      },
    });
    this.#reconciler.readBack();
    this.#ids.adoptGroups(this.#reconciler.known);
    const adopted = this.#adoptAll(this.#options.vips.map(({ prefix }) => prefix));
    this.#reconcile();
    this.#applySysctls();
    await Promise.all([this.#nft.look(), this.#conflicts.lookAtAll()]);
    this.#armSlowTimer();
    this.#isStarted = true;
    return adopted;
  }

  setVips(vips: readonly VipEndpoint[]): ReadonlyMap<string, readonly WeightedNextHop[]> {
    const added = this.#vips.set(vips, this.#host.clock.now() + LEAVE);
    this.#ids.setVips([...this.#vips.wanted.keys()]);
    const adopted = this.#adoptAll(added);
    this.#armLeave();
    this.#reconcile();
    this.#applySysctls();
    this.#conflicts.look();
    void this.#nft.look();
    return adopted;
  }

  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void {
    this.#vips.setNextHops(changes);
    this.#forward();
  }

  setProbed(nextHops: readonly string[]): void {
    this.#marks.set(nextHops);
    this.#reconcile();
    this.#applySysctls();
    if (nextHops.some((nextHop) => 'problem' in this.#resolver.resolve(nextHop))) {
      this.#readBackTimer.schedule(READ_BACK_GAP);
    }
  }

  socketThrough(nextHop: string, address: string): Socket {
    const mark = this.#marks.all.get(nextHop);
    const way = this.#resolver.resolve(nextHop);
    if (mark === undefined) throw new Error(`${nextHop}: no path for probes was asked for`);
    if ('problem' in way) throw new NoWayError(way.problem);
    return this.#host.openSocket(address, mark);
  }

  moveBuckets(
    vip: string,
    nextHop: string,
    limits: { readonly part: number; readonly mostBusy: number },
  ): BucketMove {
    const { socket } = this.#host;
    const group = this.#reconciler.groupOf(vip, this.#options.table, ROUTE_METRIC);
    const move = moveBuckets({ reconciler: this.#reconciler, group, nextHop, limits, socket });
    if (this.#reconciler.isUncertain) this.#readBackTimer.schedule(READ_BACK_GAP);
    return move;
  }

  forwarding(vip: string): readonly string[] {
    return this.#forwarding.of(vip);
  }

  obstacle(vip: string): string | undefined {
    return this.#conflicts.obstacle(vip);
  }

  status({ shares, packets = shares }: StatusParts): DataPlaneStatus {
    return {
      ...({ kind: this.kind, title: this.title, destination: 'vip' } as const),
      vips: [...this.#vips.asked].map(([vip, nextHops]) =>
        vipForwarding({
          ...{ vip, nextHops, isLeaving: this.#vips.isLeaving(vip), table: this.#options.table },
          ...{ known: this.#reconciler.known, resolver: this.#resolver },
          buckets: (groupId) => (shares ? readBuckets(this.#host.socket, groupId) : []),
          packets: (groupId) => (packets ? readPackets(this.#host.socket, groupId) : undefined),
        }),
      ),
      problems: [...[...this.#problems.values()].flat(), ...this.#conflicts.problems],
      warnings: this.#conflicts.warnings,
    };
  }

  async differences(): Promise<readonly Difference[]> {
    this.#resolver.invalidate();
    const objects = this.#reconciler.differences(this.#objects());
    // What is missing of ours explains where packets go.
    const others = this.#conflicts.differences().filter(({ vip }) => !objects.some((one) => one.vip === vip));
    return [...objects, ...others, ...(await this.#nft.differences())];
  }

  checkAble(): void {
    checkWritable(this.#host.socket);
  }

  async stop(): Promise<void> {
    this.#handlers = undefined;
    this.#timers.cancelAll();
    this.#readBackTimer.cancel();
    this.#monitor?.close();
    this.#monitor = undefined;
    await Promise.all([this.#nft.close(), this.#conflicts.close()]);
    if (this.#vips.leavesAt !== undefined) this.#leave(Number.POSITIVE_INFINITY);
    this.#host.socket.close();
  }

  /** @returns what these VIPs are forwarded to already, which is what they are to be forwarded to for now */
  #adoptAll(vips: readonly string[]): Map<string, readonly WeightedNextHop[]> {
    const { table, buckets } = this.#options;
    const place = { table, metric: ROUTE_METRIC, buckets };
    const adopted = new Map(vips.map((vip) => [vip, this.#reconciler.found(vip, place)]));
    this.#vips.setNextHops(adopted);
    return adopted;
  }

  #armLeave(): void {
    const { leavesAt } = this.#vips;
    const { clock } = this.#host;
    if (leavesAt !== undefined) {
      this.#timers.arm('leave', leavesAt - clock.now(), () => this.#leave(clock.now()));
    }
  }

  /** Removes what was there for VIPs that left. */
  #leave(now: number): void {
    this.#vips.drop(now);
    this.#ids.setVips([...this.#vips.wanted.keys()]);
    this.#forwarding.retain(this.#vips.wanted);
    this.#reconcile();
    this.#nft.schedule();
    this.#armLeave();
  }

  #objects(): Wanted {
    const { table, buckets, idleTimer, markBase } = this.#options;
    return {
      vips: this.#vips.wanted,
      probed: this.#marks.all,
      replyMark: markBase,
      resolve: (nextHop) => this.#resolver.resolve(nextHop),
      table,
      resilient: { buckets, idleTimer: idleTimer / 1000, unbalancedTimer: 0 },
    };
  }

  #reconcile(): Pass {
    if (this.#isWaiting()) {
      return { done: [], failed: [] };
    }
    const pass = this.#reconciler.reconcile(this.#objects());
    const { silence } = this.#resolver;
    this.#setFailures(silence === undefined ? pass.failed : [...pass.failed, silence]);
    for (const vip of this.#vips.wanted.keys()) {
      this.#reportForwarding(vip);
    }
    // Who gets copies of ICMP errors follows, a moment later.
    this.#nft.copiesMayDiffer();
    return pass;
  }

  /** Puts right what is not as wanted. What is in the way of a VIP that had no member until now is looked for before it is announced. */
  #forward(): void {
    const idle = [...this.#vips.wanted.keys()].filter((vip) => this.forwarding(vip).length === 0);
    this.#reconcile();
    if (idle.some((vip) => this.forwarding(vip).length > 0)) this.#conflicts.look();
  }

  /**
   * The kernel gives no answers, and is asked again when `retry` is due, however many changes come meanwhile: each question
   * would keep everything else of this thread waiting.
   */
  #isWaiting(): boolean {
    const isSilent = this.#reconciler.isUncertain || this.#resolver.silence !== undefined;
    return isSilent && this.#timers.has('retry');
  }

  /** What of the last pass was refused or left unanswered: none when the kernel is as wanted. */
  #setFailures(failures: readonly string[]): void {
    this.#problems.set('kernel', [...this.#reconciler.problems, ...failures]);
    const [first] = failures;
    if (first !== undefined) {
      // What was lost once is there at the next look, as a rule.
      this.#timers.arm('retry', this.#failing === undefined ? READ_BACK_GAP : RETRY, () => this.#readBack());
    }
    if (first !== this.#failing) {
      this.#failing = first;
      this.#handlers?.failing(first);
    }
  }

  #reportForwarding(vip: string): void {
    const now = this.#reconciler
      .forwarding(vip, this.#options.table, ROUTE_METRIC)
      .map(({ nextHop }) => nextHop)
      .sort();
    if (this.#forwarding.note(vip, now)) this.#handlers?.forwarding(vip, now);
  }

  #reportRepair(operations: readonly string[]): void {
    if (this.#isStarted) {
      this.#handlers?.repaired(operations);
    }
  }

  #changed(change: KernelChange): void {
    const { protocol } = this.#options;
    const isOurs = change.kind !== 'route' || concerns(change, protocol, this.#vips.wanted, this.#nextHops());
    if (isOurs) this.#readBackTimer.schedule(change.kind === 'link' ? LINK_GAP : READ_BACK_GAP);
  }

  /** What has changed of the ways to all next hops that are used or probed. */
  #reportLinks(): void {
    const resolve = (one: string): Resolution => this.#resolver.resolve(one);
    for (const { nextHop, problem } of this.#links.look(this.#nextHops(), resolve)) {
      this.#handlers?.link(nextHop, problem);
    }
  }

  /** All that are used or probed. */
  #nextHops(): Set<string> {
    return new Set([...this.#marks.all.keys(), ...this.#vips.nextHops]);
  }

  /** Looks at what the kernel has and puts right what is not as wanted. */
  #readBack(): void {
    if (this.#isWaiting()) return;
    this.#readBackTimer.looked();
    this.#resolver.invalidate();
    this.#reconciler.distrust();
    const { done } = this.#reconcile();
    // Before anything else: the pool may give the VIP to others.
    this.#reportLinks();
    if (done.length > 0) this.#reportRepair(done.map(describeOperation));
    const known = [...this.#reconciler.known.nexthops.values()].map(({ gateway }) => gateway);
    this.#ids.retain(new Set([...this.#vips.nextHops, ...known]));
    this.#applySysctls(true);
    this.#conflicts.look();
  }

  #applySysctls(isReadBack = false): void {
    const versions = this.#vips.all.map(({ address }) => ipVersion(address));
    const names = [
      ...this.#resolver.interfacesTo(this.#nextHops()),
      ...(this.#options.proxyInterfaces ?? []),
    ];
    const links = this.#resolver.links().values();
    const { configured, repaired, problems } = this.#sysctls.apply(versions, names, links, isReadBack);
    this.#problems.set('sysctl', problems);
    if (configured.length > 0) this.#handlers?.configured(configured);
    if (repaired.length > 0) this.#reportRepair(repaired);
  }

  #filtered({ vips, repaired, problem }: NftLook): void {
    this.#problems.set('nft', problem === undefined ? [] : [problem]);
    if (repaired.length > 0) this.#reportRepair(repaired);
    // Also where nft cannot be had: that is said, and no reason to serve no client.
    if (this.#vips.filtered(vips) && this.#monitor !== undefined) this.#forward();
  }

  #armSlowTimer(): void {
    this.#timers.arm('slow', this.#options.repairInterval, () => {
      this.#armSlowTimer();
      this.#readBack();
      void this.#nft.look();
      void this.#conflicts.lookAtAll();
    });
  }
}
