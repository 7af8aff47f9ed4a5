import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { Pool, type PoolSettings } from './pool.ts';

/** The pools of the configured VIPs, by prefix. */
export function makePools(config: RouterConfig): Map<string, Pool> {
  return new Map(
    config.vips.map(({ address }) => {
      const vip = hostPrefix(address);
      return [vip, new Pool(vip, poolSettings(config, vip))];
    }),
  );
}

/** What the pool of a VIP (`10.100.0.1/32`) goes by. */
export function poolSettings({ healthCheck, pool, neighbors }: RouterConfig, vip: string): PoolSettings {
  const masters = neighbors.filter((one) => one.role === 'master');
  // Whoever is in a range is not known beforehand: then there is no saying that all are there.
  const isClosed = masters.every(({ address }) => address !== undefined);
  const expected = masters.flatMap(({ address: session, memberAddress }) =>
    session === undefined ? [] : [memberAddress === 'peer' ? session : memberAddress],
  );
  return {
    ...pool,
    rise: healthCheck.rise,
    fall: healthCheck.fall,
    expected: isClosed ? expected.filter((one) => one.includes(':') === vip.includes(':')) : [],
  };
}
