import { isIP } from 'node:net';
import { hostPrefix, isSameVersion } from '@bgp-lb/protocol';

import type { RouterConfig } from '../config/router-config.ts';
import { Pool } from './pool.ts';
import type { PoolSettings } from './pool-settings.ts';

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
  const { bgp: hearsSpeakers } = membersOf(config, vip);
  return { ...pool, rise, fall, hearsSpeakers, ...expectedMembers(config, vip) };
}

/** The members that the configuration names, and whether others may come that are on no list. */
function expectedMembers(config: RouterConfig, vip: string): Pick<PoolSettings, 'expected' | 'isOpen'> {
  const members = membersOf(config, vip);
  const masters = config.neighbors.flatMap((one) => (members.bgp && one.role === 'master' ? [one] : []));
  // What a name stands for is known when it was looked up: it is on a list then, as the members of a ConfigMap are.
  const listed = members.static.flatMap(({ address }) => (isIP(address) === 0 ? [] : [address]));
  const announcing = masters.flatMap(({ address: session, memberAddress }) =>
    session === undefined ? [] : [memberAddress === 'peer' ? session : memberAddress],
  );
  const all = [...new Set([...announcing, ...listed])];
  return {
    expected: all.filter((one) => isSameVersion(one, vip)),
    isOpen: masters.some(({ address }) => address === undefined),
  };
}

function membersOf({ vips }: RouterConfig, vip: string): RouterConfig['vips'][number]['members'] {
  const found = vips.find(({ address }) => hostPrefix(address) === vip);
  if (found === undefined) throw new RangeError(`VIP ${vip}: not configured`);
  return found.members;
}
