import { ControlError, type ControlRoute, parseBody } from '@bgp-lb/daemon';
import { type DrainStatus, drainStatus, whyNotDrain } from './drain-status.ts';
import { type DrainOrderFile, drainOrderRequest } from './lifecycle/drain-order.ts';
import type { DrainTriggers } from './lifecycle/drain-triggers.ts';
import type { MasterKernel } from './master-kernel.ts';
import type { MasterLife } from './master-life.ts';
import type { RouterSessions } from './router-sessions.ts';
import type { SpeakerContext } from './speaker-context.ts';
import type { SpeakerStatus } from './status.ts';

export interface ControlSources {
  readonly context: SpeakerContext;
  readonly life: MasterLife;
  readonly sessions: RouterSessions;
  readonly kernel: MasterKernel;
  readonly orders: DrainOrderFile;
  readonly triggers: DrainTriggers;
  readonly status: () => Promise<SpeakerStatus>;
}

/** The speaker's own operations of the API. */
export function controlRoutes(sources: ControlSources): ControlRoute[] {
  const { orders, life, sessions } = sources;
  return [
    { method: 'GET', path: '/api/v1/status', handle: () => sources.status() },
    { method: 'GET', path: '/api/v1/drain', handle: () => drainNow(sources) },
    {
      method: 'POST',
      path: '/api/v1/drain',
      handle: ({ body }) => {
        const request = parseBody(drainOrderRequest, body ?? {});
        const refusal = request.force
          ? undefined
          : whyNotDrain(life.views(), (vip) => sessions.advertiser.others(vip));
        if (refusal !== undefined) throw new ControlError(409, refusal);
        orders.give(request, new Date());
        life.decide();
        return drainNow(sources);
      },
    },
    {
      method: 'POST',
      path: '/api/v1/undrain',
      handle: () => {
        orders.takeBack();
        life.decide();
        return drainNow(sources);
      },
    },
  ];
}

function drainNow({ context, life, sessions, kernel, triggers }: ControlSources): DrainStatus {
  const { vips } = context.config;
  return drainStatus({
    requests: triggers.all(),
    isApiServerStopping: life.readiness.level === 'stopping',
    isBootstrapped: life.bootstrap.proof === 'proven',
    views: life.views(),
    others: (vip) => sessions.advertiser.others(vip),
    connections: kernel.clients.count(vips),
    clients: kernel.clients.connected(vips),
    resets: kernel.clients.resets,
    now: performance.now(),
  });
}
