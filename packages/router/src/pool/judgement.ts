import type { MemberState } from './member-view.ts';

/** What a rule makes of a member: its state, share and the reason. */
export interface Judgement {
  readonly state: MemberState;
  readonly weight: number;
  readonly reason: string;
}

/** When a member that fails softly is moved out. Milliseconds. */
export interface Eviction {
  readonly after: number;
  /** Monotonic time since when enough others are good: when all fail together, the time begins with their recovery. */
  readonly enoughGoodSince: number;
}
