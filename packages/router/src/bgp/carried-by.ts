import type { DataPlane } from '../dataplane/data-plane.ts';
import type { Pool } from '../pool/pool.ts';
import type { CarriedBy } from './route-advertiser.ts';

/**
 * How VIPs (`10.100.0.1/32`) are to be announced: upstreams send us traffic while it reaches a member that there is no reason to doubt, and
 * nothing of others is known to be in its way.
 * One without a pool is left out.
 */
export function carriedBy(
  vips: readonly string[],
  pools: ReadonlyMap<string, Pick<Pool, 'isDoubtful'>>,
  dataPlane: Pick<DataPlane, 'forwarding' | 'obstacle'>,
): Map<string, CarriedBy> {
  return new Map(
    vips.flatMap((vip) => {
      const pool = pools.get(vip);
      if (pool === undefined) return [];
      const lost = 'BFD lost all its members at once: they are probed';
      const withheld = pool.isDoubtful ? lost : dataPlane.obstacle(vip);
      const carried =
        withheld === undefined ? { members: dataPlane.forwarding(vip).length } : { members: 0, withheld };
      return [[vip, carried]];
    }),
  );
}
