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
import { configWarnings } from '../config/config-warnings.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import { type NeighborChanges, planNeighbors, routerReload } from './neighbor-changes.ts';
import type { ReloadChanges } from './reload-changes.ts';
import { memberKeys, planVips, setVips, type VipParts } from './vip-changes.ts';

/** What a reload changes. */
export interface Reloaded extends VipParts {
  readonly bgp: Pick<BgpNeighbors, 'readPasswords' | 'setNeighbors' | 'setVips'>;
  readonly bfd: Pick<NeighborBfd, 'setNeighbors'>;
  readonly advertiser: Pick<UpstreamAdvertiser, 'setAdvertised' | 'refresh'>;
  readonly ca: Pick<CaFile, 'use'>;
}

/** The new configuration was taken, and not everything that follows from it could be done. */
class IncompleteReload extends Error {
  override readonly name = 'IncompleteReload';
}

export interface ConfigReloadOptions {
  /** What the daemon was started with. */
  readonly config: RouterConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => RouterConfig;
  readonly logger: Logger;
  readonly observer: Pick<RouterObserver, 'reloaded' | 'reloadRefused' | 'reloadIncomplete' | 'problem'>;
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
   * Takes what may change while it runs (`routerReload`) from the configuration as it is now. Everything that may be wrong with it comes
   * before the first change, and nothing is changed then. What goes wrong after that does not keep the rest from being done.
   * @throws ConfigError, SecretError, ReloadError when nothing was taken; IncompleteReload
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
      if (error instanceof IncompleteReload) observer.reloadIncomplete(error.message);
      else observer.reloadRefused(textOf(error));
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
    const { reread, logger, observer } = this.#options;
    const { bgp, bfd, advertiser } = parts;
    const before = this.#config;
    const next = reread();
    checkReload(before, next, routerReload);
    const plan = planNeighbors(before.neighbors, next.neighbors);
    const vips = planVips(before.vips, next.vips);
    const passwords = bgp.readPasswords(next.neighbors);
    logger.level = next.log.level;
    this.#config = next;
    const changed = changedKeys(before, next).filter((key) => key !== 'neighbors' && key !== 'vips');
    const settings = [...changed, ...memberKeys(before.vips, next.vips)];
    let neighbors: NeighborChanges = { added: [], removed: [], changed: [], updated: [] };
    doAll([
      ['neighbors', () => (neighbors = bgp.setNeighbors(next.neighbors, plan, passwords))],
      ['BFD', () => bfd.setNeighbors(plan)],
      ['VIPs', () => askAgain(setVips(next, vips, parts), observer)],
      ['health checks and pools', () => judgeAnew(next, settings, parts)],
      ['upstreams', () => advertiser.refresh()],
    ]);
    const known = configWarnings(before);
    for (const warning of configWarnings(next).filter((one) => !known.includes(one))) {
      observer.problem(warning);
    }
    return { ...neighbors, vips, settings };
  }
}

/** Does each, also when one before it failed. @throws IncompleteReload that names those that failed */
function doAll(steps: readonly (readonly [string, () => unknown])[]): void {
  const failures = steps.flatMap(([what, run]) => {
    try {
      run();
      return [];
    } catch (error) {
      return [`${what}: ${textOf(error)}`];
    }
  });
  if (failures.length === 0) return;
  throw new IncompleteReload(
    `the new configuration was taken, but not all of it could be done (${failures.join('; ')}): a start of the router does the rest (forwarding goes on, no connection breaks)`,
  );
}

/** Health of members and rules of pools, as far as they differ. Who is configured as a member is one of these rules. */
function judgeAnew(
  next: RouterConfig,
  changed: readonly string[],
  { pools, controller, membership, health, ca }: Reloaded,
): void {
  pools.configure(next);
  membership.configure(next);
  if (changed.some((key) => key.startsWith('healthCheck.'))) {
    ca.use(next.healthCheck.caFile);
    health.restart();
  }
  controller.reconsider();
}

function askAgain(unable: readonly string[], observer: ConfigReloadOptions['observer']): void {
  if (unable.length === 0) return;
  observer.problem(
    `${unable.join(', ')} cannot be asked for what was refused before (no route refresh, RFC 2918): the new VIP is taken from there with the next session`,
  );
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
