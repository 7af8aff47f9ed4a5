import {
  ControlError,
  type ControlRoute,
  changedKeys,
  checkReload,
  type Logger,
  ReloadError,
} from '@bgp-lb/daemon';
import type { NeighborBfd } from '../bfd/neighbor-bfd.ts';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { HealthChecker } from '../health/health-checker.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import { poolSettings } from '../pool/make-pools.ts';
import type { Pool } from '../pool/pool.ts';
import type { PoolController } from '../pool/pool-controller.ts';
import { planNeighbors, type ReloadChanges, routerReload } from './neighbor-changes.ts';

/** What a reload changes. */
export interface Reloaded {
  readonly bgp: BgpNeighbors;
  readonly bfd: NeighborBfd;
  readonly advertiser: UpstreamAdvertiser;
  readonly pools: ReadonlyMap<string, Pool>;
  readonly controller: PoolController;
  readonly health: HealthChecker;
  readonly ca: CaFile;
}

export interface ConfigReloadOptions {
  /** What the daemon was started with. */
  readonly config: RouterConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => RouterConfig;
  readonly logger: Logger;
  readonly observer: Pick<RouterObserver, 'reloaded' | 'reloadRefused'>;
}

/** The configuration that the router goes by, and how another one is taken. */
export class ConfigReload {
  readonly #options: ConfigReloadOptions;
  #config: RouterConfig;
  #parts: Reloaded | undefined;

  constructor(options: ConfigReloadOptions) {
    this.#options = options;
    this.#config = options.config;
  }

  /** As it was last taken. */
  get config(): RouterConfig {
    return this.#config;
  }

  /** From now on there is something that a reload can change. */
  begin(parts: Reloaded): void {
    this.#parts = parts;
  }

  /**
   * Takes what may change while it runs (`routerReload`) from the configuration as it is now. Whole or not at all: everything that may
   * fail comes before the first change.
   * @throws ConfigError, SecretError, ReloadError
   */
  take(): ReloadChanges {
    const { observer } = this.#options;
    try {
      if (this.#parts === undefined) {
        throw new ReloadError('nothing was reloaded, since the router is still starting');
      }
      const changes = this.#take(this.#parts);
      observer.reloaded(changes);
      return changes;
    } catch (error) {
      observer.reloadRefused(textOf(error));
      throw error;
    }
  }

  /** What the command `reload` asks. */
  route(): ControlRoute {
    return {
      method: 'POST',
      path: '/api/v1/reload',
      handle: () => {
        try {
          return this.take();
        } catch (error) {
          throw new ControlError(409, textOf(error));
        }
      },
    };
  }

  #take(parts: Reloaded): ReloadChanges {
    const { reread, logger } = this.#options;
    const { bgp, bfd, advertiser } = parts;
    const before = this.#config;
    const next = reread();
    checkReload(before, next, routerReload);
    const plan = planNeighbors(before.neighbors, next.neighbors);
    const passwords = bgp.readPasswords(next.neighbors);
    logger.level = next.log.level;
    this.#config = next;
    const settings = changedKeys(before, next).filter((key) => key !== 'neighbors');
    const neighbors = bgp.setNeighbors(next.neighbors, plan, passwords);
    bfd.setNeighbors(plan);
    setPools(next, settings, parts);
    advertiser.refresh();
    return { ...neighbors, settings };
  }
}

/** Health of members and rules of pools, as far as they differ. Who is configured as a member is one of these rules. */
function setPools(
  next: RouterConfig,
  changed: readonly string[],
  { pools, controller, health, ca }: Reloaded,
): void {
  for (const [vip, pool] of pools) {
    pool.setSettings(poolSettings(next, vip));
  }
  if (changed.some((key) => key.startsWith('healthCheck.'))) {
    ca.use(next.healthCheck.caFile);
    health.restart();
  }
  controller.reconsider();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
