import type { Gate } from './gate.ts';
import type { SourceView } from './member-source.ts';

/**
 * What a member's speaker asks for by the attributes of its path: full share, or only what must not be broken
 * (GRACEFUL_SHUTDOWN of RFC 8326 with LOCAL_PREF 0, and a large community that says why).
 */
export type Intent = 'active' | 'last-resort' | 'draining';

/** `active` has its full share; `last-resort` and `draining` keep live connections only; `stale` has lost its session but not its health; `out` gets nothing. */
export type MemberState = Intent | 'stale' | 'out';

/**
 * What one health probe proved, in the order of how sure it is that the member cannot serve. `answered` is an answer that is no
 * good one; `slow` a connection that was accepted, and no complete answer in time: its host and what listens there live.
 */
export type ProbeVerdict = 'good' | 'answered' | 'slow' | 'soft' | 'unreachable' | 'refused';

/** How a member fails. `answered` and `slow` are soft failures too. */
export type Failure = Exclude<ProbeVerdict, 'good' | 'answered' | 'slow'>;

/** The health of a member over time: `unknown` until `rise` good probes in a row. */
export type Health = 'unknown' | 'passing' | 'failing';

/** Weight of a next hop with its full share (the most that a nexthop group takes, linux/nexthop.h). */
export const FULL_WEIGHT: number = 256;
/** Weight of a next hop that keeps its live connections and gets next to no new ones. */
export const LEAST_WEIGHT: number = 1;

/** One next hop of a VIP with its share. */
export interface WeightedNextHop {
  /** Address in canonical text. */
  readonly nextHop: string;
  /** 1 to 256. */
  readonly weight: number;
  /** Where its API server listens, where a source says so; else that of the VIP. */
  readonly port?: number;
}

/** A member as it is shown: state, share, and the reason in words. */
export interface MemberView {
  readonly name: string;
  readonly nextHop: string;
  readonly state: MemberState;
  readonly inPool: boolean;
  /** 0 when the member is not in the pool. */
  readonly weight: number;
  /** State of the session to its speaker in RFC 4271's words; `none` for one that is listed and never had one. */
  readonly session: string;
  /** Where it comes from, and what each source says. */
  readonly sources: readonly SourceView[];
  /** Where a list says it. */
  readonly zone?: string;
  readonly health: Health;
  /** Empty for an active member about which there is nothing to say. */
  readonly reason: string;
  /** Monotonic milliseconds since when `reason` holds, where that is worth saying: `BFD down for 12.3 s`. */
  readonly reasonSince?: number;
  /** Monotonic milliseconds of the last change of `state`. */
  readonly since: number;
  /** How often it left the pool, or lost its full share, of late. */
  readonly exits: number;
  /** What its share depends on, one by one. */
  readonly gates: readonly Gate[];
  /** It is good but held back, since it left too often: until then (monotonic ms), if it stays good. */
  readonly heldUntil?: number;
}

/** One change of a member's state or share, or the beginning of `heldFor`, with which neither changes. */
export interface Transition {
  readonly member: string;
  readonly nextHop: string;
  readonly from: MemberState;
  readonly to: MemberState;
  readonly weight: number;
  readonly reason: string;
  /** It is good again and held back for so long (ms), since it left too often. */
  readonly heldFor?: number;
}
