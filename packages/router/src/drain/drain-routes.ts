import { ControlError, type ControlRoute } from '@bgp-lb/daemon';
import { z } from 'zod';
import type { HostDrain } from './host-drain.ts';

const order = z.strictObject({ wait: z.int().min(0).max(3_600_000) });

/** What the commands `drain` and `undrain` ask. */
export function drainRoutes(drain: HostDrain): ControlRoute[] {
  return [
    { method: 'GET', path: '/api/v1/drain', handle: () => drain.status() },
    {
      method: 'POST',
      path: '/api/v1/drain',
      handle: ({ body }) => {
        const parsed = order.safeParse(body);
        if (!parsed.success) throw new ControlError(400, z.prettifyError(parsed.error));
        drain.begin(parsed.data.wait);
        return drain.status();
      },
    },
    {
      method: 'POST',
      path: '/api/v1/undrain',
      handle: () => {
        drain.end();
        return drain.status();
      },
    },
  ];
}
