import { ControlError, type ControlRoute, changedKeys, checkReload, type Logger } from '@bgp-lb/daemon';
import type { NeighborBfd } from '../bfd/neighbor-bfd.ts';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import type { UpstreamAdvertiser } from '../bgp/upstream-advertiser.ts';
import { configWarnings } from '../config/config-warnings.ts';
import type { CurrentConfig } from '../config/current-config.ts';
import { checkNeighbors, type NeighborChanges, routerReload } from '../config/neighbor-changes.ts';
import type { RouterConfig } from '../config/router-config.ts';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { CaFile } from '../health/ca-file.ts';
import type { VipHealthChecker } from '../health/vip-health-checker.ts';
import type { MembershipSources } from '../membership/membership-sources.ts';
import type { ForwardingTimes } from '../observe/forwarding-times.ts';
import type { RouterObserver } from '../observe/router-observer.ts';
import type { OnLinkResponder } from '../on-link/on-link-responder.ts';
import type { PoolController } from '../pool/pool-controller.ts';
import type { VipPools } from '../pool/vip-pools.ts';
import type { Rebalancer } from '../rebalance/rebalancer.ts';
import type { ReloadChanges } from './reload-changes.ts';
import { memberKeys, vipChanges } from './vip-changes.ts';

/** The owners that a reload concerns. Each is given the new configuration, and finds what is different for it. */
export interface ReloadedParts {
  readonly bgp: Pick<BgpNeighbors, 'readPasswords' | 'configure' | 'configureImport'>;
  readonly bfd: Pick<NeighborBfd, 'configure'>;
  readonly advertiser: Pick<UpstreamAdvertiser, 'configure'>;
  readonly pools: Pick<VipPools, 'configure'>;
  readonly controller: Pick<PoolController, 'configure' | 'reconsider'>;
  readonly rebalancer: Pick<Rebalancer, 'configure'>;
  readonly dataPlane: Pick<DataPlane, 'setVips'>;
  readonly onLink: Pick<OnLinkResponder, 'setAddresses'>;
  readonly forwardingTimes: Pick<ForwardingTimes, 'configure'>;
  readonly health: Pick<VipHealthChecker, 'configure'>;
  readonly membership: Pick<MembershipSources, 'standing' | 'configure'>;
  readonly ca: Pick<CaFile, 'configure'>;
}

/** The new configuration was taken, and not everything that follows from it could be done. */
class IncompleteReload extends Error {
  override readonly name = 'IncompleteReload';
}

export interface ConfigReloadOptions {
  readonly current: CurrentConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => RouterConfig;
  readonly logger: Logger;
  readonly observer: Pick<RouterObserver, 'reloaded' | 'reloadRefused' | 'reloadIncomplete' | 'problem'>;
  readonly parts: ReloadedParts;
}

/** How another configuration is taken while the router runs. */
export class ConfigReload {
  readonly #options: ConfigReloadOptions;

  constructor(options: ConfigReloadOptions) {
    this.#options = options;
  }

  /**
   * Takes what may change while it runs (`routerReload`) from the configuration as it is now. Everything that may be wrong with it comes
   * before the first change, and nothing is changed then. What goes wrong after that does not keep the rest from being done.
   * @throws ConfigError, SecretError, ReloadError when nothing was taken; IncompleteReload
   */
  take(): ReloadChanges {
    const { observer } = this.#options;
    try {
      const changes = this.#take();
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

  #take(): ReloadChanges {
    const { current, reread, logger, observer, parts } = this.#options;
    const { bgp, bfd, advertiser } = parts;
    const before = current.config;
    const next = reread();
    checkReload(before, next, routerReload);
    checkNeighbors(before.neighbors, next.neighbors);
    const passwords = bgp.readPasswords(next.neighbors);
    logger.level = next.log.level;
    current.replace(next);
    let neighbors: NeighborChanges = { added: [], removed: [], changed: [], updated: [] };
    doAll([
      ['neighbors', () => (neighbors = bgp.configure(next, passwords))],
      ['BFD', () => bfd.configure(next)],
      ['upstreams', () => advertiser.configure(next)],
      ['health checks', () => configureHealth(next, parts)],
      ['VIPs', () => this.#configureVips(next)],
      ['pools', () => configureMembers(next, parts)],
    ]);
    const known = configWarnings(before);
    for (const warning of configWarnings(next).filter((one) => !known.includes(one))) {
      observer.problem(warning);
    }
    const changed = changedKeys(before, next).filter((key) => key !== 'neighbors' && key !== 'vips');
    return {
      ...neighbors,
      vips: vipChanges(before.vips, next.vips),
      settings: [...changed, ...memberKeys(before.vips, next.vips)],
    };
  }

  /**
   * One that goes is withdrawn from upstreams by now, and the data plane forwards it for a moment more. One that is new has a route and
   * its floor before masters are asked for it, and is advertised, as always, when it is forwarded to one.
   */
  #configureVips(next: RouterConfig): void {
    const { observer, parts } = this.#options;
    const { pools, controller, membership, dataPlane, bgp } = parts;
    pools.configure(next);
    parts.rebalancer.configure(next);
    parts.forwardingTimes.configure(next);
    const adopted = dataPlane.setVips(next.vips);
    controller.configure(adopted, membership.standing());
    parts.onLink.setAddresses(next.vips.map(({ address }) => address));
    const unable = bgp.configureImport(next);
    if (unable.length === 0) return;
    observer.problem(
      `${unable.join(', ')} cannot be asked for what was refused before (no route refresh, RFC 2918): the new VIP is taken from there with the next session`,
    );
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

/** What is asked of members: before there are pools of new VIPs, whose members are probed at once. */
function configureHealth(next: RouterConfig, { health, ca }: ReloadedParts): void {
  ca.configure(next);
  health.configure(next);
}

/** Who is configured as a member; the pools then judge all of them by the new rules. */
function configureMembers(next: RouterConfig, { controller, membership }: ReloadedParts): void {
  membership.configure(next);
  controller.reconsider();
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
