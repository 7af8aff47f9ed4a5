import type { NeighborChanges } from '../config/neighbor-changes.ts';
import type { VipChanges } from './vip-changes.ts';

/** What a reload did. */
export interface ReloadChanges extends NeighborChanges {
  readonly vips: VipChanges;
  /** Keys that have another value now: `healthCheck.interval`. Neighbors and VIPs are not among them. */
  readonly settings: readonly string[];
}
