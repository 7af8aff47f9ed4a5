import type { Barrier } from './gate.ts';
import type { ListedMember, MemberSession } from './member-claims.ts';
import type { SourceId } from './member-source.ts';
import type { Intent, ProbeVerdict, WeightedNextHop } from './member-view.ts';
import type { OperatorDrain } from './operator-drain.ts';

/** A member whose host is dead, and by what that was seen: `BFD down`. */
export interface LostMember {
  readonly nextHop: string;
  readonly reason: string;
  /** This process was so late that it may be we who were deaf or silent: kept for a moment, and probed. */
  readonly isDoubtful?: boolean;
}

/**
 * Everything that a pool reacts to. Members are known by their next hop, an address in canonical text; what is said of one
 * is known by who says it, and taken back by that source alone.
 */
export type PoolEvent =
  /** The session to the member's speaker changed state. `reason` in words when it went down. */
  | {
      readonly type: 'session';
      readonly source: SourceId;
      readonly nextHop: string;
      readonly name: string;
      readonly session: MemberSession;
      readonly reason?: string;
    }
  /** The member advertises the VIP. `why` in words when it asks for less than its full share. */
  | {
      readonly type: 'announced';
      readonly source: SourceId;
      readonly nextHop: string;
      readonly name: string;
      readonly intent: Intent;
      readonly why?: string;
      /** Which cluster it says that it is of; nothing when it does not. */
      readonly identities?: readonly number[];
    }
  /** The session was lost in a way that says the process died and not the host: the path is kept for a while. */
  | { readonly type: 'stale'; readonly source: SourceId; readonly nextHop: string; readonly reason: string }
  /** The path is gone: withdrawn, or lost with its session. */
  | {
      readonly type: 'withdrawn';
      readonly source: SourceId;
      readonly nextHop: string;
      readonly reason: string;
    }
  /** The whole list of a source from now on: who is on it no more is not listed by that source any more. */
  | { readonly type: 'listed'; readonly source: SourceId; readonly members: readonly ListedMember[] }
  /**
   * BFD says that the hosts of these members are dead: all that it said in one turn of the event loop, so that they
   * are judged together. `window`: how far apart in ms the detection of one and the same event may be.
   */
  | { readonly type: 'lost'; readonly members: readonly LostMember[]; readonly window: number }
  /** Something besides path and health that a member needs is missing (`reason` in words), or is there again. */
  | {
      readonly type: 'barrier';
      readonly nextHop: string;
      readonly barrier: Barrier;
      readonly reason: string | undefined;
    }
  /** The speaker has told all it has (End-of-RIB, RFC 4724 section 2): what it has not claimed by now is not its. */
  | { readonly type: 'complete'; readonly source: SourceId; readonly nextHop: string }
  /** The data plane was found forwarding to these members, from before this process began. */
  | { readonly type: 'adopted'; readonly members: readonly WeightedNextHop[] }
  /** The operator drains a member on this load balancer, one that is not known yet among them, or does no more. */
  | { readonly type: 'operator'; readonly nextHop: string; readonly drain: OperatorDrain | undefined }
  /**
   * Clients' own packets say that they are not served by these members, though they are by others: why, by next hop, in the order in which
   * they were doubted. The whole set each time.
   */
  | { readonly type: 'doubts'; readonly doubts: ReadonlyMap<string, string> }
  /** A health probe through the member ended. */
  | {
      readonly type: 'probed';
      readonly nextHop: string;
      readonly verdict: ProbeVerdict;
      readonly detail: string;
    }
  /** Time has passed: `Pool.wakeAt` was reached. */
  | { readonly type: 'tick' };
