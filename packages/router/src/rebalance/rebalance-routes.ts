import { ControlError, type ControlRoute, parseBody } from '@bgp-lb/daemon';
import * as z from 'zod';
import type { Pool } from '../pool/pool.ts';
import type { Rebalancer } from './rebalancer.ts';

/** What is asked for by `POST /api/v1/rebalance`. */
const order = z.strictObject({
  member: z.string().min(1).max(64),
  /** Address of a VIP; all that the member serves without it. */
  vip: z.string().max(64).optional(),
  /** Part of all buckets in a second, 0 to 1. */
  rate: z.number().gt(0).max(1),
  /** Busy buckets in all. */
  mostBusy: z.int().min(0).max(65_535),
});

/** Starting rebalances, and what has become of them. */
export function rebalanceRoutes(rebalancer: Rebalancer, pools: ReadonlyMap<string, Pool>): ControlRoute[] {
  return [
    { method: 'GET', path: '/api/v1/rebalance', handle: () => rebalancer.all() },
    {
      method: 'POST',
      path: '/api/v1/rebalance',
      handle: ({ body }) => {
        if (rebalancer.unable !== undefined) {
          throw new ControlError(409, rebalancer.unable);
        }
        const { member, vip, ...options } = parseBody(order, body);
        const wanted = [...pools.values()].filter(
          (pool) => vip === undefined || pool.vip.split('/')[0] === vip,
        );
        const found = wanted.flatMap((pool) => {
          const one = pool.members().find(({ name, nextHop }) => name === member || nextHop === member);
          return one?.inPool === true ? [{ vip: pool.vip, nextHop: one.nextHop }] : [];
        });
        if (found.length === 0) {
          const known = [...new Set(wanted.flatMap((pool) => pool.nextHops().map(({ nextHop }) => nextHop)))];
          const there = known.length === 0 ? 'nobody' : known.join(', ');
          throw new ControlError(404, `${member} is in no pool; in use are: ${there}`);
        }
        return found.map((one) => rebalancer.start(one.vip, one.nextHop, options));
      },
    },
  ];
}
