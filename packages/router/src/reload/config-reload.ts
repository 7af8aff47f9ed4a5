import { ControlError, type ControlRoute, checkReload, type Logger, ReloadError } from '@bgp-lb/daemon';
import type { NeighborBfd } from '../bfd/neighbor-bfd.ts';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import { type NeighborChanges, planNeighbors, routerReload } from './neighbor-changes.ts';

/** What a reload changes. */
export interface Reloaded {
  readonly bgp: BgpNeighbors;
  readonly bfd: NeighborBfd;
  readonly advertiser: UpstreamAdvertiser;
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
   * Takes the neighbours, and how much is logged, from the configuration as it is now. Whole or not at all: everything that may
   * fail comes before the first change.
   * @throws ConfigError, SecretError, ReloadError
   */
  take(): NeighborChanges {
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

  #take({ bgp, bfd, advertiser }: Reloaded): NeighborChanges {
    const { reread, logger } = this.#options;
    const next = reread();
    checkReload(this.#config, next, routerReload);
    const plan = planNeighbors(this.#config.neighbors, next.neighbors);
    const passwords = bgp.readPasswords(next.neighbors);
    logger.level = next.log.level;
    this.#config = next;
    const changes = bgp.setNeighbors(next.neighbors, plan, passwords);
    bfd.setNeighbors(plan);
    advertiser.refresh();
    return changes;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
