import type { RouterConfig } from '../config/router-config.ts';
import type { Barrier } from '../pool/gate.ts';
import type { ListedMember, MemberSession } from '../pool/member-claims.ts';
import type { SourceId } from '../pool/member-source.ts';
import type { Intent } from '../pool/member-view.ts';
import type { LostMember } from '../pool/pool-event.ts';
import type { MemberSourceStatus } from './source-status.ts';

/** What a membership source reports. Members are known by their next hop, an address in canonical text. */
export type MembershipEvent =
  | {
      readonly type: 'session';
      readonly nextHop: string;
      readonly name: string;
      readonly session: MemberSession;
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
  /**
   * The members of a VIP that a list has from now on, all of them. They have no session by it: what they announce themselves over
   * the session of another source goes before it.
   */
  | {
      readonly type: 'listed';
      readonly vip: string;
      readonly members: readonly ListedMember[];
      /** Which list of this source, for people: `bgp-lb-system/prod`. Nothing where it has only one. */
      readonly list?: string;
    }
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

/** An event with the source that reports it. */
export type FromSource<E extends MembershipEvent> = E extends MembershipEvent
  ? E & { readonly source: SourceId }
  : never;

/** Receives events in the order in which they happened, in the same tick as their cause, and those of one cause together. */
export type MembershipSink = (events: readonly MembershipEvent[]) => void;

/** Hosts that BFD says are dead, all that were found in one turn of the event loop. */
export interface HostDeaths {
  /** Addresses of sessions in canonical text, also of hosts that are no members. */
  readonly addresses: readonly string[];
  /** Those of which this host may be the deaf one: it was late to hear, or hears no neighbor. */
  readonly doubtful: ReadonlySet<string>;
  /** How far apart in ms the detection of one and the same event may be. */
  readonly window: number;
}

/**
 * What BFD says of the hosts of members, known by the addresses of their sessions. A source whose members have sessions takes
 * it, since it alone knows which members these are, and ends their sessions.
 */
export interface HostLiveness {
  /** These hosts are dead: their members are reported as `lost` before anything else that follows from it. */
  hostsDead(deaths: HostDeaths): void;
  /** A member that must have BFD has it, or not: reported as `barrier`. */
  bfdRequired(address: string, isUp: boolean): void;
}

/**
 * Says which members ask to serve which VIP, or are to. Its promises, which `sessionConformance` checks where members have
 * sessions, and `listConformance` where they have none:
 * - only configured VIPs are reported, and a member only as its own next hop;
 * - `announced` comes once per change, `withdrawn` and `stale` only for what was announced before;
 * - after `withdrawn` and `lost` the same path is reported again only by a new `announced`;
 * - `listed` is the whole list each time, and comes only when it has changed;
 * - after `stop` no event comes.
 */
export interface MembershipSource {
  /** For people: `bgp`, `static`, `configMap`. Each source has a kind of its own. */
  readonly kind: string;
  /** What BFD is told to; nothing where members have no sessions. */
  readonly liveness?: HostLiveness;
  /** What is so of the members at the moment, besides what they announce, as events that a new VIP's pool is to have. */
  standing(): readonly StandingEvent[];
  /** What its lists are at the moment. Nothing where its members speak for themselves. */
  status?(): readonly MemberSourceStatus[];
  /** Begins to report. Resolves when members can reach it; throws when that cannot be had. */
  start(sink: MembershipSink): Promise<void>;
  /** Goes by this configuration from now on, and reports what that changes. Nothing where a source is told in another way. */
  configure?(next: RouterConfig): void;
  /** Ends in such a way that the members keep serving (invariant 6). */
  stop(): Promise<void>;
}
