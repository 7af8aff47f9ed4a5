import { type ControlRoute, ControlServer, type EventLog, type Logger } from '@bgp-lb/daemon';
import { canonicalText } from '../bgp/neighbor-options.ts';
import { dashboardRoutes } from '../dashboard/dashboard-routes.ts';
import { metricSources } from '../observe/metric-sources.ts';
import type { RouterMetrics } from '../observe/router-metrics.ts';
import { type ControlSources, controlRoutes } from './control-routes.ts';
import { readiness } from './readiness.ts';

export interface ControlOptions {
  readonly sources: ControlSources;
  /** Operations of other parts. */
  readonly routes: readonly ControlRoute[];
  readonly metrics: RouterMetrics;
  readonly events: EventLog;
  readonly logger: Logger;
}

/** What serves the API and the metrics. */
export function makeControl(options: ControlOptions): ControlServer {
  const { sources, routes, metrics, events, logger } = options;
  const { bgp, bfd, pools, dataPlane, advertiser, drain } = sources;
  const { api } = sources.config();
  metrics.observe(metricSources(sources));
  metrics.clients.observe(
    () => pools.keys(),
    (vip) => sources.clients.of(vip)?.cause,
  );
  metrics.bfd.observe({
    status: () => bfd.status(),
    roleOf: (id) =>
      bgp.peers().find(({ peer }) => canonicalText(peer.address) === id)?.neighbor.role ?? 'unknown',
  });
  return new ControlServer({
    socketPath: api.socket,
    listen: api.listen,
    allowedHosts: api.allowedHosts,
    routes: [
      ...controlRoutes(sources),
      ...dashboardRoutes(sources, events, (error) => logger.warn({ err: error }, 'no snapshot for the page')),
      ...routes,
    ],
    metrics: metrics.metrics.registry,
    events,
    logger,
    readiness: () =>
      readiness({
        drain: drain.phase,
        vrrp: sources.virtualRouter?.status(),
        vips: [...pools.keys()].map((vip) => ({
          vip,
          forwarding: dataPlane.forwarding(vip).length,
          obstacle: dataPlane.obstacle(vip),
          advertisements: advertiser.advertisements(vip),
        })),
      }),
  });
}
