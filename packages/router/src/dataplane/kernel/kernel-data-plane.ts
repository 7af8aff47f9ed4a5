import type { Socket } from 'node:net';
import type { WeightedNextHop } from '../../pool/member-view.ts';
import {
  type BucketMove,
  type DataPlane,
  type DataPlaneHandlers,
  type DataPlaneStatus,
  NoWayError,
  type StatusParts,
} from '../data-plane.ts';
import { moveBuckets } from './bucket-move.ts';
import { type Resolution, ROUTE_METRIC, type Wanted } from './desired-objects.ts';
import { vipForwarding } from './forwarding-status.ts';
import { type CopyTargets, copyTargets } from './icmp-copies.ts';
import { readBuckets, readPackets } from './kernel-access.ts';
import type { KernelChange, KernelHost } from './kernel-host.ts';
import { KernelReconciler, type Pass } from './kernel-reconciler.ts';
import { LinkWatch } from './link-watch.ts';
import { NextHopResolver } from './next-hop-resolver.ts';
import { NftKeeper } from './nft-keeper.ts';
import { ObjectIds } from './object-ids.ts';
import { describeOperation } from './operation.ts';
import { ProbeMarks } from './probe-marks.ts';
import { concerns } from './route-interest.ts';
import { SysctlKeeper } from './sysctl-keeper.ts';
import { vipConflicts } from './vip-conflicts.ts';

/** A VIP as the kernel is to carry it. */
export interface KernelVip {
  /** `10.100.0.1/32` */
  readonly prefix: string;
  readonly address: string;
  readonly port: number;
}

export interface KernelDataPlaneOptions {
  readonly vips: readonly KernelVip[];
  readonly table: number;
  readonly protocol: number;
  readonly buckets: number;
  /** Milliseconds. */
  readonly idleTimer: number;
  /** Where clients reach VIPs of a subnet: a redirect there would send them past us. */
  readonly proxyInterfaces?: readonly string[];
  /** First of the marks and routing tables for health probes. */
  readonly markBase: number;
  readonly manageSysctls: boolean;
  /** Milliseconds between two looks at everything, whatever the kernel says. */
  readonly repairInterval: number;
}

/** Two looks at the kernel are at least so far apart, however many changes it reports (ms). */
const READ_BACK_GAP = 20;
/** After a change of a link they may be closer: packets go into a cable that leads nowhere (ms). */
const LINK_GAP = 2;
/** Two looks at the nft table are at least so far apart (ms): each costs a process, and somebody may change it for ever. */
const NFT_GAP = 250;
/** After a refusal by the kernel it is tried again (ms). */
const RETRY = 500;
/** After nft has failed it is tried again (ms): an interface that has gone may be there again. */
const NFT_RETRY = 2000;

/** RT_TABLE_MAIN (linux/rtnetlink.h). */
const MAIN_TABLE = 254;

/** Forwards by nexthop objects, one resilient group for each VIP, and its route. */
export class KernelDataPlane implements DataPlane {
  readonly kind = 'kernel';
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
  /** Until then what is made is no repair. */
  #isStarted = false;
  #wanted: Map<string, readonly WeightedNextHop[]>;
  #forwarding = new Map<string, readonly string[]>();
  #problems = new Map<'kernel' | 'nft' | 'sysctl' | 'conflict', readonly string[]>();
  #copies = '';
  #monitor: { close(): void } | undefined;
  #cancels = new Map<'read-back' | 'nft' | 'slow' | 'retry', () => void>();
  #lastReadBack = Number.NEGATIVE_INFINITY;
  #readBackDue = 0;
  #lastNft = Number.NEGATIVE_INFINITY;

  constructor(options: KernelDataPlaneOptions, host: KernelHost) {
    this.#options = options;
    this.#host = host;
    this.#resolver = new NextHopResolver(host.socket);
    this.#sysctls = new SysctlKeeper(host.sysctl, options.manageSysctls);
    this.#marks = new ProbeMarks(options.markBase);
    this.#nft = new NftKeeper({
      nft: host.nft,
      vips: options.vips,
      replyMark: options.markBase,
      refuseUnrouted: options.table === MAIN_TABLE,
      copies: () => this.#copyTargets(),
    });
    this.#wanted = new Map(options.vips.map(({ prefix }) => [prefix, []]));
    this.#ids = new ObjectIds([...this.#wanted.keys()]);
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
      nftChanged: () => this.#scheduleNft(),
      overflow: () => {
        this.#scheduleReadBack(READ_BACK_GAP);
        this.#scheduleNft();
      },
    });
    this.#reconciler.readBack();
    const adopted = new Map(this.#options.vips.map(({ prefix }) => [prefix, this.#adopt(prefix)]));
    this.#wanted = new Map(adopted);
    this.#reconcile();
    this.#applySysctls();
    await this.#ensureNft();
    this.#lookForConflicts();
    this.#armSlowTimer();
    this.#isStarted = true;
    return adopted;
  }

  setNextHops(vip: string, nextHops: readonly WeightedNextHop[]): void {
    if (!this.#wanted.has(vip)) {
      throw new RangeError(`VIP ${vip}: not configured`);
    }
    this.#wanted.set(vip, nextHops);
    this.#reconcile();
  }

  setProbed(nextHops: readonly string[]): void {
    this.#marks.set(nextHops);
    this.#reconcile();
    this.#applySysctls();
    if (nextHops.some((nextHop) => 'problem' in this.#resolver.resolve(nextHop))) {
      this.#scheduleReadBack(READ_BACK_GAP);
    }
  }

  socketThrough(nextHop: string, address: string): Socket {
    const mark = this.#marks.all.get(nextHop);
    const way = this.#resolver.resolve(nextHop);
    if (mark === undefined) {
      throw new Error(`${nextHop}: no path for probes was asked for`);
    }
    if ('problem' in way) {
      throw new NoWayError(way.problem);
    }
    return this.#host.openSocket(address, mark);
  }

  moveBuckets(
    vip: string,
    nextHop: string,
    limits: { readonly part: number; readonly mostBusy: number },
  ): BucketMove {
    const group = this.#reconciler.groupOf(vip, this.#options.table, ROUTE_METRIC);
    return group === undefined
      ? { problem: `${vip} is not forwarded to anybody` }
      : moveBuckets({
          reconciler: this.#reconciler,
          group,
          nextHop,
          limits,
          read: () => readBuckets(this.#host.socket, group.id),
        });
  }

  forwarding(vip: string): readonly string[] {
    return this.#forwarding.get(vip) ?? [];
  }

  status({ shares, packets = shares }: StatusParts): DataPlaneStatus {
    return {
      kind: this.kind,
      vips: [...this.#wanted].map(([vip, nextHops]) =>
        vipForwarding({
          vip,
          nextHops,
          table: this.#options.table,
          known: this.#reconciler.known,
          resolver: this.#resolver,
          buckets: (groupId) => (shares ? readBuckets(this.#host.socket, groupId) : []),
          packets: (groupId) => (packets ? readPackets(this.#host.socket, groupId) : undefined),
        }),
      ),
      problems: [...this.#problems.values()].flat(),
    };
  }

  checkAnswers(): void {
    this.#host.socket.links();
  }

  async stop(): Promise<void> {
    this.#handlers = undefined;
    for (const cancel of this.#cancels.values()) {
      cancel();
    }
    this.#cancels.clear();
    this.#monitor?.close();
    this.#monitor = undefined;
    await this.#nft.idle();
    this.#host.socket.close();
  }

  /** What an earlier life left: by the route, or where somebody removed that, by the VIP's own group id. */
  #adopt(vip: string): readonly WeightedNextHop[] {
    const { known } = this.#reconciler;
    const byRoute = this.#reconciler.forwarding(vip, this.#options.table, ROUTE_METRIC);
    if (byRoute.length > 0) {
      return byRoute;
    }
    return this.#reconciler.membersOf(known.groups.get(this.#ids.group(vip, this.#options.buckets, known)));
  }

  #objects(): Wanted {
    const { table, buckets, idleTimer, markBase } = this.#options;
    return {
      vips: this.#wanted,
      probed: this.#marks.all,
      replyMark: markBase,
      resolve: (nextHop) => this.#resolver.resolve(nextHop),
      table,
      resilient: { buckets, idleTimer: idleTimer / 1000, unbalancedTimer: 0 },
    };
  }

  #reconcile(): Pass {
    const pass = this.#reconciler.reconcile(this.#objects());
    this.#problems.set('kernel', [...this.#reconciler.problems, ...pass.failed]);
    if (pass.failed.length > 0) {
      this.#arm('retry', RETRY, () => this.#readBack());
    }
    for (const vip of this.#wanted.keys()) {
      this.#reportForwarding(vip);
    }
    // Who gets copies of ICMP errors follows, a moment later.
    const copies = JSON.stringify([...this.#copyTargets()]);
    if (copies !== this.#copies) {
      this.#copies = copies;
      this.#scheduleNft();
    }
    return pass;
  }

  #reportForwarding(vip: string): void {
    const now = this.#reconciler
      .forwarding(vip, this.#options.table, ROUTE_METRIC)
      .map(({ nextHop }) => nextHop)
      .sort();
    if (now.join() !== this.forwarding(vip).join()) {
      this.#forwarding.set(vip, now);
      this.#handlers?.forwarding(vip, now);
    }
  }

  #copyTargets(): CopyTargets {
    return copyTargets(this.#options.vips, this.#forwarding, (nextHop) => this.#resolver.resolve(nextHop));
  }

  #reportRepair(operations: readonly string[]): void {
    if (this.#isStarted) {
      this.#handlers?.repaired(operations);
    }
  }

  #changed(change: KernelChange): void {
    const { protocol } = this.#options;
    const isOurs = change.kind !== 'route' || concerns(change, protocol, this.#wanted, this.#nextHops());
    if (isOurs) {
      this.#scheduleReadBack(change.kind === 'link' ? LINK_GAP : READ_BACK_GAP);
    }
  }

  #scheduleReadBack(gap: number): void {
    const due = this.#lastReadBack + gap;
    if (!this.#cancels.has('read-back') || due < this.#readBackDue) {
      this.#readBackDue = due;
      this.#arm('read-back', Math.max(0, due - this.#host.clock.now()), () => this.#readBack());
    }
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
    const used = [...this.#wanted.values()].flat().map(({ nextHop }) => nextHop);
    return new Set([...this.#marks.all.keys(), ...used]);
  }

  #scheduleNft(): void {
    if (!this.#cancels.has('nft')) {
      const elapsed = this.#host.clock.now() - this.#lastNft;
      this.#arm('nft', Math.max(READ_BACK_GAP, NFT_GAP - elapsed), () => void this.#ensureNft());
    }
  }

  /** Looks at what the kernel has and puts right what is not as wanted. */
  #readBack(): void {
    this.#lastReadBack = this.#host.clock.now();
    this.#resolver.invalidate();
    this.#reconciler.readBack();
    const { done } = this.#reconcile();
    // Before anything else: the pool may give the VIP to others.
    this.#reportLinks();
    if (done.length > 0) {
      this.#reportRepair(done.map(describeOperation));
    }
    this.#ids.retain(this.#gateways());
    this.#applySysctls(true);
    this.#lookForConflicts();
  }

  #gateways(): Set<string> {
    const wanted = [...this.#wanted.values()].flat().map(({ nextHop }) => nextHop);
    const known = [...this.#reconciler.known.nexthops.values()].map(({ gateway }) => gateway);
    return new Set([...wanted, ...known]);
  }

  #applySysctls(isReadBack = false): void {
    const towardsMembers = [...this.#nextHops()]
      .map((nextHop) => this.#resolver.resolve(nextHop))
      .flatMap((way) => ('problem' in way ? [] : [way.interfaceName]));
    const versions = this.#options.vips.map(({ address }) => (address.includes(':') ? 6 : 4));
    const names = [...towardsMembers, ...(this.#options.proxyInterfaces ?? [])];
    const links = this.#resolver.links().values();
    const { configured, repaired, problems } = this.#sysctls.apply(versions, names, links, isReadBack);
    this.#problems.set('sysctl', problems);
    if (configured.length > 0) {
      this.#handlers?.configured(configured);
    }
    if (repaired.length > 0) {
      this.#reportRepair(repaired);
    }
  }

  #lookForConflicts(): void {
    const { vips, table } = this.#options;
    const isForwarding = (prefix: string): boolean => this.forwarding(prefix).length > 0;
    this.#problems.set('conflict', vipConflicts(this.#host.socket, vips, isForwarding, table));
  }

  async #ensureNft(): Promise<void> {
    this.#lastNft = this.#host.clock.now();
    try {
      const repaired = await this.#nft.ensure();
      if (repaired.length > 0) {
        this.#reportRepair(repaired);
      }
      this.#problems.set('nft', []);
    } catch (error) {
      this.#problems.set('nft', [error instanceof Error ? error.message : String(error)]);
      this.#arm('nft', NFT_RETRY, () => void this.#ensureNft());
    }
  }

  #armSlowTimer(): void {
    this.#arm('slow', this.#options.repairInterval, () => {
      this.#armSlowTimer();
      this.#readBack();
      void this.#ensureNft();
    });
  }

  #arm(name: 'read-back' | 'nft' | 'slow' | 'retry', ms: number, run: () => void): void {
    this.#cancels.get(name)?.();
    const cancel = this.#host.clock.after(ms, () => {
      this.#cancels.delete(name);
      run();
    });
    this.#cancels.set(name, cancel);
  }
}
