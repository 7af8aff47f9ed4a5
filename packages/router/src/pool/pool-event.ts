import type { Intent, Verdict, WeightedNextHop } from './member-view.ts';

/** Everything that a pool reacts to. Members are known by their next hop, an address in canonical text. */
export type PoolEvent =
  /** The session to the member's speaker changed state. `reason` in words when it went down. */
  | {
      readonly type: 'session';
      readonly nextHop: string;
      readonly name: string;
      readonly session: string;
      readonly reason?: string;
    }
  /** The member advertises the VIP. `why` in words when it asks for less than its full share. */
  | {
      readonly type: 'announced';
      readonly nextHop: string;
      readonly name: string;
      readonly intent: Intent;
      readonly why?: string;
    }
  /** The session was lost in a way that says the process died and not the host: the path is kept for a while. */
  | { readonly type: 'stale'; readonly nextHop: string; readonly reason: string }
  /** The path is gone: withdrawn, or lost with its session. */
  | { readonly type: 'withdrawn'; readonly nextHop: string; readonly reason: string }
  /** The speaker has told all it has (End-of-RIB, RFC 4724 section 2): what it has not claimed by now is not its. */
  | { readonly type: 'complete'; readonly nextHop: string }
  /** The data plane was found forwarding to these members, from before this process began. */
  | { readonly type: 'adopted'; readonly members: readonly WeightedNextHop[] }
  /** A health probe through the member ended. */
  | { readonly type: 'probed'; readonly nextHop: string; readonly verdict: Verdict; readonly detail: string }
  /** Time has passed: `Pool.wakeAt` was reached. */
  | { readonly type: 'tick' };
