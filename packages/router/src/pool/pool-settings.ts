import type { Identities } from './cluster-identity.ts';
import type { FlapSettings } from './flap-record.ts';

/** The rules' numbers. All times in milliseconds. */
export interface PoolSettings extends FlapSettings {
  readonly rise: number;
  readonly fall: number;
  /** Below this share of good members (0 to 1) health is overruled. */
  readonly panicThreshold: number;
  /** How long a member may fail softly before it is moved out, if enough others are good. */
  readonly evictAfter: number;
  /** How long an adopted member waits for its speaker, and one in doubt that answers. Stale paths are swept by the membership source. */
  readonly staleTime: number;
  /** How long an empty pool waits after its first good member, so that the first does not take every bucket. */
  readonly initialHold: number;
  /** Members that are known beforehand, by next hop; when all of them and those on lists are good the initial hold ends. */
  readonly expected: readonly string[];
  /** Others may come besides: from a range of neighbors, which says of none that it is there. */
  readonly isOpen: boolean;
  /** Speakers may announce the VIP: one that is silent of it does not want it then. Otherwise lists alone count. */
  readonly hearsSpeakers: boolean;
  /** Which cluster the members must be of. Empty: what the members in use say is learned. */
  readonly identities: Identities;
}
