import type { NeighborStatus } from '../api/neighbor-status.ts';
import type { RouterStatus } from '../api/router-status.ts';
import type { DataPlaneStatus } from '../dataplane/data-plane.ts';
import type { FibReport } from '../fib/fib-report.ts';

/** An event as the page lists it. */
export interface DashboardEvent {
  readonly sequence: number;
  /** ISO 8601. */
  readonly time: string;
  readonly type: string;
  /** Its fields, as `bgp-lb-router events` prints them. */
  readonly text: string;
}

/** All that the page shows, as of one moment. */
export interface DashboardSnapshot {
  /** ISO 8601, of this host. */
  readonly time: string;
  /** Of this host; empty where it has none. */
  readonly hostName: string;
  readonly status: RouterStatus;
  readonly neighbors: readonly NeighborStatus[];
  /** With shares and packets. */
  readonly fib: DataPlaneStatus;
  /** Wanted against real; `null` where it could not be read, with the reason in `differencesError`. */
  readonly differences: FibReport['differences'] | null;
  readonly differencesError: string;
  /** The newest ones, newest first. */
  readonly events: readonly DashboardEvent[];
}
