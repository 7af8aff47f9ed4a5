import { hostname } from 'node:os';
import {
  type ControlRoute,
  type EventLog,
  type LoggedEvent,
  pageRoutes,
  readPage,
  SnapshotStream,
} from '@bgp-lb/daemon';
import { type ControlSources, neighborStatuses, routerStatus } from '../api/control-routes.ts';
import { eventText } from '../api/tables.ts';
import { fibReport } from '../fib/fib-report.ts';
import type { DashboardEvent, DashboardSnapshot } from './dashboard-snapshot.ts';

/** Events that the page lists. */
const EVENTS = 60;
/** How often it is read what there is against what is wanted, in milliseconds: that costs more than the rest. */
const DIFFERENCES_PERIOD = 5000;

/** The page at `/`, what it loads, and its stream of snapshots. */
export function dashboardRoutes(
  sources: ControlSources,
  events: EventLog,
  onError: (error: unknown) => void,
): ControlRoute[] {
  const differences = new RecentDifferences(sources);
  const stream = new SnapshotStream({
    take: () => dashboardSnapshot(sources, events, differences),
    events,
    onError,
  });
  return [
    ...pageRoutes(() => readPage(import.meta.url, 'router')),
    { method: 'GET', path: '/api/v1/dashboard', handle: () => stream.open() },
  ];
}

async function dashboardSnapshot(
  sources: ControlSources,
  events: EventLog,
  differences: RecentDifferences,
): Promise<DashboardSnapshot> {
  const [status, neighbors, compared] = await Promise.all([
    routerStatus(sources),
    neighborStatuses(sources),
    differences.now(),
  ]);
  return {
    time: new Date().toISOString(),
    hostName: hostname(),
    status,
    neighbors,
    fib: sources.dataPlane.status({ shares: true }),
    ...compared,
    events: events.recent(EVENTS).reverse().map(dashboardEvent),
  };
}

function dashboardEvent(event: LoggedEvent): DashboardEvent {
  const { sequence, time, type } = event;
  return { sequence, time, type, text: eventText(event) };
}

/** What there is against what is wanted, read no more often than `DIFFERENCES_PERIOD`. */
class RecentDifferences {
  readonly #sources: ControlSources;
  #last: Pick<DashboardSnapshot, 'differences' | 'differencesError'> | undefined;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(sources: ControlSources) {
    this.#sources = sources;
  }

  async now(): Promise<Pick<DashboardSnapshot, 'differences' | 'differencesError'>> {
    const { dataPlane, onLink, now } = this.#sources;
    if (this.#last !== undefined && now() - this.#readAt < DIFFERENCES_PERIOD) return this.#last;
    this.#readAt = now();
    try {
      const report = await fibReport(dataPlane, onLink);
      this.#last = { differences: report.differences, differencesError: '' };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#last = { differences: null, differencesError: text };
    }
    return this.#last;
  }
}
