import { hostPrefix } from '../bgp/neighbor-options.ts';
import type { RouterConfig } from '../config/router-config.ts';
import { Pool, type PoolSettings } from './pool.ts';

/** The pools of the configured VIPs. The one owner of the map that others look at. */
export class VipPools {
  readonly #pools = new Map<string, Pool>();

  constructor(config: RouterConfig) {
    this.configure(config);
  }

  /** By prefix, in the order of the configuration. It stays the same map. */
  get all(): ReadonlyMap<string, Pool> {
    return this.#pools;
  }

  /** A pool for each VIP of the configuration, by its rules; those that are there go on. */
  configure(config: RouterConfig): void {
    const before = new Map(this.#pools);
    this.#pools.clear();
    for (const vip of config.vips.map(({ address }) => hostPrefix(address))) {
      const settings = poolSettings(config, vip);
      const pool = before.get(vip) ?? new Pool(vip, settings);
      pool.setSettings(settings);
      this.#pools.set(vip, pool);
    }
  }
}

/** What the pool of a VIP (`10.100.0.1/32`) goes by. */
function poolSettings({ healthCheck, pool, neighbors }: RouterConfig, vip: string): PoolSettings {
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
