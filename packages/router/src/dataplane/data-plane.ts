import type { Socket } from 'node:net';
import type { WeightedNextHop } from '../pool/member-view.ts';

/** There is no way to a next hop at this moment. Its `code` is what connect(2) would say. */
export class NoWayError extends Error {
  override readonly name = 'NoWayError';
  readonly code = 'EHOSTUNREACH';
}

/** Where clients of a VIP connect to. */
export interface VipEndpoint {
  /** Canonical text, without length. */
  readonly address: string;
  readonly port: number;
}

/** A VIP that is carried. */
export interface CarriedVip extends VipEndpoint {
  /** Where API servers listen, unless a member has a port of its own. */
  readonly machinePort: number;
}

/** How one next hop of a VIP is carried. */
export interface ForwardingShare {
  readonly nextHop: string;
  readonly weight: number;
  /** Name of the interface; `undefined` while there is no way to it, or where that is not the data plane's to know. */
  readonly interfaceName: string | undefined;
  /** Hash buckets that point to it; `undefined` where connections are spread in another way. */
  readonly buckets: number | undefined;
  /** The part of new connections that it gets, 0 to 1. */
  readonly share: number;
  /** Packets to it since its share was last changed; `undefined` where they are not counted, or were not asked for. */
  readonly packets: number | undefined;
  /** Clients' connections to it at this moment; none where they are not known. */
  readonly connections?: number;
  /** What the data plane found when it last checked the member by itself; none where it does not, or has not yet. */
  readonly check?: {
    readonly passes: boolean;
    /** In words: `UP: L7OK Layer7 check passed`. */
    readonly text: string;
  };
  /** Details in the data plane's own words. */
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
  /** Why it is wanted but not forwarded to; empty when it is. */
  readonly problem: string;
}

/** What the data plane does for a VIP at this moment, as read back from where it was put. */
export interface VipForwarding {
  /** `10.100.0.1/32` */
  readonly vip: string;
  /** True while packets to the VIP reach a member. */
  readonly forwarding: boolean;
  readonly members: readonly ForwardingShare[];
  /** Details in the data plane's own words: object ids, table, metric. */
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

/** What is counted for a status. */
export interface StatusParts {
  /** The shares, which may cost some milliseconds. They are all 0 otherwise. */
  readonly shares: boolean;
  /** The packets. Default: as `shares`. */
  readonly packets?: boolean;
}

export interface DataPlaneStatus {
  readonly kind: string;
  /** In a sentence: `the kernel`, `HAProxy`. */
  readonly title: string;
  /** What packets to a member are addressed to: the VIP, which it has to hold then, or the address of the member itself. */
  readonly destination: 'vip' | 'member';
  readonly vips: readonly VipForwarding[];
  /** What is wrong and cannot be repaired from here, one sentence each. */
  readonly problems: readonly string[];
  /** What would be wrong for clients that came by another way than those that they are known to take, one sentence each. */
  readonly warnings: readonly string[];
}

/** Something that is not in place as it is wanted. */
export interface Difference {
  /** `10.100.0.1/32`; `null` for what serves all of them. */
  readonly vip: string | null;
  /** Of what kind it is, in the data plane's words: `route`, `next hop`, `group`. */
  readonly object: string;
  /** What there is against what is wanted, in words. */
  readonly difference: string;
}

/** What one step of a rebalance did, or why there was none. */
export type BucketMove =
  | {
      readonly moved: number;
      /** Of those that moved: had carried a packet not long before. */
      readonly busy: number;
      /** What the member should have more. */
      readonly missing: number;
    }
  | { readonly problem: string };

/** What a data plane tells its owner. */
export interface DataPlaneHandlers {
  /** The next hops that the VIP is forwarded to changed. Called in the tick of the change. */
  forwarding(vip: string, nextHops: readonly string[]): void;
  /**
   * What keeps all clients of a VIP from its members, put there by others, has changed: in words, and undefined when nothing does any
   * more. Called in the tick in which it was seen.
   */
  obstacle(vip: string, obstacle: string | undefined): void;
  /**
   * There is no way to a next hop any more, in words (`no carrier on eth0`), or again (`undefined`). Packets go there
   * no more when this is called.
   */
  link(nextHop: string, problem: string | undefined): void;
  /**
   * What the data plane finds when it checks a member by itself is not what the pool goes by, in words; or it is again (`undefined`). Only
   * where it makes checks of its own, and when it lasts.
   */
  dissent(vip: string, nextHop: string, text: string | undefined): void;
  /** A setting of the host was made because it was needed, for the first time. */
  configured(settings: readonly string[]): void;
  /** Something else changed what this data plane owns, and it was put right. */
  repaired(operations: readonly string[]): void;
  /**
   * What packets are forwarded by is not as wanted, since a change was refused or left unanswered, in words; `undefined` when it is
   * as wanted again. What was there before forwards on, and it is tried again and again.
   */
  failing(problem: string | undefined): void;
  /** One operation was done, or failed with `error`. */
  operation(kind: string, tookMs: number, error: string | undefined): void;
}

/**
 * Ways for probes: what is sent by them goes through one member as a client's packets would, whether it is in use or not. Where
 * a data plane has none, members are probed at their own addresses.
 */
export interface ProbeWays {
  /** The next hops that `socketThrough` will be asked for, whether they are in use or not. Synchronous. */
  setProbed(nextHops: readonly string[]): void;
  /**
   * An unconnected socket for a VIP's address, whose packets go through that very member.
   * Throws `NoWayError` when there is no way to it.
   */
  socketThrough(nextHop: string, address: string): Socket;
}

/** Moves what connections are spread by. */
export interface BucketMover {
  /**
   * Moves hash buckets from next hops of the VIP that have more than their share to those that have less, the longest
   * idle first, until this one has its own. Synchronous.
   * @param limits.part of all buckets, 0 to 1: no more than that move
   * @param limits.mostBusy of those that carried a packet not long before
   */
  moveBuckets(
    vip: string,
    nextHop: string,
    limits: { readonly part: number; readonly mostBusy: number },
  ): BucketMove;
}

/**
 * Carries packets for the VIPs to the members of their pools. Its promises, which `dataPlaneConformance` checks, and
 * `probeWaysConformance` where it has such ways:
 * - what an earlier life left forwards on through `start`, which returns it;
 * - `setNextHops` takes effect before it returns, and only connections of removed next hops move;
 * - an empty set makes new connections fail at once, and never loops a packet;
 * - a VIP that is there no more is forwarded for a moment, and is as it was when it comes back within it;
 * - it repairs what it owns and touches nothing else;
 * - after `stop` packets are forwarded as before.
 */
export interface DataPlane {
  /** In configurations and columns: `kernel`. */
  readonly kind: string;
  /** In a sentence: `the kernel`. */
  readonly title: string;
  /** Only where a member can be reached by its VIP without being in use. */
  readonly probeWays?: ProbeWays;
  /** Only where connections are spread by hash buckets. */
  readonly buckets?: BucketMover;
  /** Begins with what is there: for each VIP the next hops that are forwarded to already. */
  start(handlers: DataPlaneHandlers): Promise<ReadonlyMap<string, readonly WeightedNextHop[]>>;
  /**
   * The VIPs that are carried from now on; what concerns the others is not touched. One that is new is forwarded to no member before what
   * else is there for it is in place. One that is there no more is forwarded as it was for a moment, since packets are on their way to
   * it when it is withdrawn. Synchronous.
   * @returns for each VIP that was not carried, the next hops that it is forwarded to already
   */
  setVips(vips: readonly CarriedVip[]): ReadonlyMap<string, readonly WeightedNextHop[]>;
  /**
   * The whole sets of next hops of these VIPs from now on; what changes of several at once is one call. Synchronous; where another
   * process has to be told, the effect follows within milliseconds, and a new next hop may wait for that process's own check.
   */
  setNextHops(changes: ReadonlyMap<string, readonly WeightedNextHop[]>): void;
  /** The next hops that the VIP is forwarded to now. */
  forwarding(vip: string): readonly string[];
  /** What others have put in the way of all clients of the VIP, in words: nothing of it is put right from here. */
  obstacle(vip: string): string | undefined;
  status(parts: StatusParts): DataPlaneStatus;
  /**
   * Reads everything again and compares it with what is wanted, without putting anything right. Calls that overlap share one answer.
   * Rejects when it cannot be read.
   */
  differences(): Promise<readonly Difference[]>;
  /**
   * Throws when what packets are forwarded by does not answer, or lets us change nothing: members that die would stay in use. One
   * change that is refused is none of that.
   */
  checkAble(): void;
  /** Leaves forwarding as it is (invariant 6) and releases everything else. */
  stop(): Promise<void>;
}
