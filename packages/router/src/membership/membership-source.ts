import type { Intent } from '../pool/member-view.ts';
import type { Barrier, LostMember } from '../pool/pool-event.ts';

/** What a membership source reports. Members are known by their next hop, an address in canonical text. */
export type MembershipEvent =
  | {
      readonly type: 'session';
      readonly nextHop: string;
      readonly name: string;
      /** `Established`, or another state in the source's words. */
      readonly session: string;
      /** Why it went down, in words. */
      readonly reason?: string;
    }
  | {
      readonly type: 'announced';
      /** The VIP as a prefix, `10.100.0.1/32`. */
      readonly vip: string;
      readonly nextHop: string;
      readonly name: string;
      readonly intent: Intent;
      readonly why?: string;
      /** Which cluster it says that it is of; nothing when it does not. */
      readonly identities?: readonly number[];
    }
  | { readonly type: 'stale'; readonly vip: string; readonly nextHop: string; readonly reason: string }
  | { readonly type: 'withdrawn'; readonly vip: string; readonly nextHop: string; readonly reason: string }
  /** The hosts of these members are dead, all that were found so in one turn; their paths are gone without `withdrawn`. */
  | { readonly type: 'lost'; readonly members: readonly LostMember[]; readonly window: number }
  /** Something that the member needs besides is missing, or there again (`undefined`). */
  | {
      readonly type: 'barrier';
      readonly nextHop: string;
      readonly barrier: Barrier;
      readonly reason: string | undefined;
    }
  /** All that this member has was reported. */
  | { readonly type: 'complete'; readonly nextHop: string };

/** What is so of a member for as long as nothing else is said. */
export type StandingEvent = Extract<MembershipEvent, { type: 'session' | 'barrier' }>;

/** Receives events in the order in which they happened, in the same tick as their cause, and those of one cause together. */
export type MembershipSink = (events: readonly MembershipEvent[]) => void;

/**
 * Says which members ask to serve which VIP. Its promises, which `membershipConformance` checks:
 * - only configured VIPs are reported, and a member only as its own next hop;
 * - `announced` comes once per change, `withdrawn` and `stale` only for what was announced before;
 * - after `withdrawn` and `lost` the same path is reported again only by a new `announced`;
 * - after `stop` no event comes.
 */
export interface MembershipSource {
  /** For people: `bgp`. */
  readonly kind: string;
  /** What is so of the members at the moment, besides what they announce, as events that a new VIP's pool is to have. */
  standing(): readonly StandingEvent[];
  /** Begins to report. Resolves when members can reach it; throws when that cannot be had. */
  start(sink: MembershipSink): Promise<void>;
  /** Ends in such a way that the members keep serving (invariant 6). */
  stop(): Promise<void>;
}
