import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { Pool } from './pool.ts';

/** The pools of the configured VIPs, by prefix. */
export function makePools({ vips, healthCheck, pool, neighbors }: RouterConfig): Map<string, Pool> {
  const masters = neighbors.filter((one) => one.role === 'master');
  // Whoever is in a range is not known beforehand: then there is no saying that all are there.
  const isClosed = masters.every(({ address }) => address !== undefined);
  return new Map(
    vips.map(({ address }) => {
      const expected = masters.flatMap(({ address: session, memberAddress }) =>
        session === undefined ? [] : [memberAddress === 'peer' ? session : memberAddress],
      );
      const settings = {
        ...pool,
        rise: healthCheck.rise,
        fall: healthCheck.fall,
        expected: isClosed ? expected.filter((one) => one.includes(':') === address.includes(':')) : [],
      };
      return [hostPrefix(address), new Pool(hostPrefix(address), settings)];
    }),
  );
}
