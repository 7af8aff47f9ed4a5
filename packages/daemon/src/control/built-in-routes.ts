import { ControlError, ControlReply, type ControlRequest, type ControlRoute } from './control-route.ts';
import type { EventLog, LoggedEvent } from './event-log.ts';

/** The part of prom-client's Registry that the API needs. */
export interface TextRegistry {
  readonly contentType: string;
  metrics(): Promise<string>;
}

/** Whether a daemon does its work, and if not, why. */
export interface Readiness {
  readonly ready: boolean;
  readonly reason?: string;
}

/** `/healthz`, `/readyz`, `/metrics` and `/api/v1/events`. */
export function builtInRoutes(options: {
  readonly metrics: TextRegistry;
  readonly events: EventLog;
  readonly readiness?: () => Readiness;
}): ControlRoute[] {
  const { metrics, events, readiness } = options;
  return [
    { method: 'GET', path: '/healthz', handle: () => new ControlReply('text/plain; charset=utf-8', 'ok\n') },
    {
      method: 'GET',
      path: '/readyz',
      handle: () => {
        const { ready, reason } = readiness?.() ?? { ready: true };
        if (!ready) throw new ControlError(503, reason ?? 'not ready');
        return new ControlReply('text/plain; charset=utf-8', 'ok\n');
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => new ControlReply(metrics.contentType, await metrics.metrics()),
    },
    { method: 'GET', path: '/api/v1/events', handle: (request) => listEvents(events, request) },
  ];
}

/** The kept events, oldest first: `?since=SEQUENCE` for those after one, `?limit=N` for the newest N, `?type=` for one type. */
function listEvents(events: EventLog, request: ControlRequest): readonly LoggedEvent[] {
  const { since, limit, type } = request.query;
  const all = since === undefined ? events.recent() : events.since(wholeNumber('since', since)).events;
  const wanted = type === undefined ? all : all.filter((event) => event.type === type);
  const count = limit === undefined ? wanted.length : wholeNumber('limit', limit);
  return count === 0 ? [] : wanted.slice(-count);
}

/** A whole number of a query. Throws `ControlError` 400. */
export function wholeNumber(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ControlError(400, `${name} is not a whole number; allowed: 0, 1, 2 ...`);
}
