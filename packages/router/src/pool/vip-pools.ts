import { isIP } from 'node:net';
import { hostPrefix, isSameVersion } from '@bgp-lb/protocol';

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
function poolSettings(config: RouterConfig, vip: string): PoolSettings {
  const { healthCheck, pool } = config;
  const { rise, fall } = healthCheck;
  return { ...pool, rise, fall, expected: expectedMembers(config, vip) };
}

/** All members that there can be; none where that is not known beforehand. */
function expectedMembers({ vips, neighbors }: RouterConfig, vip: string): readonly string[] {
  const members = vips.find(({ address }) => hostPrefix(address) === vip)?.members;
  if (members === undefined || members.configMap !== undefined) return [];
  const masters = neighbors.flatMap((one) => (members.bgp && one.role === 'master' ? [one] : []));
  const listed = members.static.map(({ address }) => address);
  // The members of a range are not known, nor what a name stands for.
  const isClosed =
    masters.every(({ address }) => address !== undefined) && listed.every((one) => isIP(one) !== 0);
  const announcing = masters.flatMap(({ address: session, memberAddress }) =>
    session === undefined ? [] : [memberAddress === 'peer' ? session : memberAddress],
  );
  const all = [...new Set([...announcing, ...listed])];
  return isClosed ? all.filter((one) => isSameVersion(one, vip)) : [];
}
