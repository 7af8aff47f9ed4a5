import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { acquireInstanceLock, type RunningDaemon } from '@bgp-lb/daemon';
import { AutoRouter } from './auto/auto-router.ts';
import { chosenConfig } from './auto/chosen-config.ts';
import { awaitedListeners } from './bgp/awaited-listeners.ts';
import { configWarnings } from './config/config-warnings.ts';
import type { RouterConfig } from './config/router-config.ts';
import { KEEPALIVED_PLACES } from './config/vrrp-schema.ts';
import type { DataPlaneHandlers } from './dataplane/data-plane.ts';
import { makeFootprint } from './dataplane/make-footprint.ts';
import { makeRouterParts, type RouterOptions, type RouterParts } from './router-parts.ts';
import { keepalivedPaths } from './vrrp/keepalived-paths.ts';
import { retireKeepalived } from './vrrp/retire-keepalived.ts';

/** What a router is started with: of its configuration it may not be known yet which data plane it will have. */
export interface StartOptions extends Omit<RouterOptions, 'config' | 'reread' | 'auto'> {
  readonly config: RouterConfig;
  /** Reads the configuration as it is now. Throws ConfigError. */
  readonly reread: () => RouterConfig;
}

/** Builds the router, takes over what the data plane has, and starts it. */
export async function startRouter(options: StartOptions): Promise<RunningDaemon> {
  const { config, reread } = options;
  const { dataplane } = config;
  mkdirSync(config.stateDir, { recursive: true, mode: 0o755 });
  const lock = await acquireInstanceLock(join(config.stateDir, 'router.lock'));
  const make = (one: Pick<RouterOptions, 'config' | 'reread' | 'auto'>): Router =>
    new Router(makeRouterParts({ ...options, ...one }));
  const router =
    dataplane.kind === 'auto'
      ? new AutoRouter({
          ...{ config, dataplane, reread, footprint: makeFootprint },
          start: async (one) => {
            const started = make(one);
            await started.start();
            return started;
          },
        })
      : make({ config: chosenConfig(config), reread: () => chosenConfig(reread()) });
  await router.start();
  return {
    stop: async (signal) => {
      await router.stop(signal);
      lock.release();
    },
    reload: () => router.reload(),
    checkWell: () => router.checkWell(),
  };
}

/** The order in which the parts begin and end. */
class Router {
  readonly #parts: RouterParts;

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** As it was last taken. */
  get config(): RouterConfig {
    return this.#parts.current.config;
  }

  async start(): Promise<void> {
    const { dataPlane, memberDrains, observer, pools, controller, touched, membership } = this.#parts;
    // The floor and what was there before: from here on the VIP neither loops nor hangs, and BGP may begin.
    const adopted = await dataPlane.start(this.#dataPlaneHandlers());
    if ([...adopted.values()].some((nextHops) => nextHops.length > 0)) this.#parts.bgp.takeOver();
    this.#reportProblems();
    const drainProblem = memberDrains.restore();
    if (drainProblem !== undefined) observer.problem(drainProblem);
    for (const vip of pools.all.keys()) {
      controller.adopt(vip, adopted.get(vip) ?? []);
    }
    // Upstreams hear of what is forwarded before their End-of-RIB.
    touched.touch(...pools.all.keys());
    touched.flush();
    await this.#parts.control.start();
    await membership.start((events) => {
      controller.membership(events);
      for (const event of events) {
        // Its path may have other attributes, which upstreams that get it unchanged are to have.
        if (event.type === 'announced') touched.touch(event.vip);
      }
    });
    this.#parts.bfd.start();
    this.#parts.onLink.start();
    if (this.#parts.vrrp === undefined) void this.#retireKeepalived();
    else this.#parts.vrrp.router.start();
    this.#parts.clients.start();
    this.#parts.stalls.start();
    this.#parts.instance.start();
    this.#parts.chooser?.start();
  }

  #dataPlaneHandlers(): DataPlaneHandlers {
    const { dataPlane, forwardingTimes, observer, clients, touched, controller, trouble } = this.#parts;
    return {
      forwarding: (vip, nextHops) => {
        forwardingTimes.changed(vip, nextHops);
        observer.forwarding(vip, nextHops);
        clients.forwarding(vip, nextHops);
        touched.touch(vip);
      },
      obstacle: (vip, obstacle) => {
        observer.obstacle(vip, obstacle);
        touched.touch(vip);
      },
      link: (nextHop, problem) => controller.link(nextHop, problem),
      dissent: (vip, nextHop, text) => observer.dissent(vip, nextHop, text),
      configured: (settings) => observer.configured(settings),
      repaired: (operations) => observer.repaired(operations),
      failing: (problem) => {
        observer.failing(dataPlane.title, problem);
        trouble.failing(problem);
      },
      operation: (kind, tookMs, error) => observer.operation(kind, tookMs, error),
    };
  }

  /** SIGHUP. Rejects with the reason when nothing is taken. */
  async reload(): Promise<void> {
    this.#parts.reload.take();
  }

  /**
   * Rejects when the data plane does not answer, or lets us change nothing, or the BFD thread does not answer: then members that die
   * stay in use, and a new start may cure it, which costs no packet. An empty pool, a session that is down and a kernel that refuses one
   * request are none of that: a start would change nothing.
   */
  async checkWell(): Promise<void> {
    this.#parts.trouble.checkAble();
    await this.#parts.bfd.checkAnswers();
  }

  /** The data plane forwards on, masters and upstreams keep what they have; nothing else is left behind (invariant 6). */
  async stop(_signal?: NodeJS.Signals): Promise<void> {
    const parts = this.#parts;
    parts.chooser?.stop();
    parts.touched.close();
    parts.bfd.detach();
    parts.stalls.stop();
    await parts.membership.stop();
    // After the sessions: FRR 8.4 takes AdminDown for death, and would drop what it is to keep (RFC 5882 section 4.2 says otherwise).
    await parts.bfd.stop();
    parts.vrrp?.stop();
    parts.onLink.stop();
    parts.clients.stop();
    parts.controller.close();
    parts.rebalancer.close();
    parts.drain.close();
    parts.serviceStatus.close();
    parts.instance.close();
    parts.health.close();
    await parts.dataPlane.stop();
    parts.observer.close();
    await parts.control.close();
  }

  /** `vrrp` is not in the configuration: a keepalived that an earlier one had is to have the VIPs no more, after the next boot neither. */
  async #retireKeepalived(): Promise<void> {
    const { observer } = this.#parts;
    try {
      const { removed, left } = await retireKeepalived(keepalivedPaths(KEEPALIVED_PLACES), false);
      if (removed.length > 0) observer.repaired(removed.map((what) => `remove ${what}, without vrrp`));
      for (const what of left) observer.problem(`VRRP is not configured, and there is ${what}`);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      observer.problem(`VRRP is not configured, and what was of it cannot be removed: ${words}`);
    }
  }

  #reportProblems(): void {
    const { dataPlane, observer } = this.#parts;
    const { config } = this.#parts.current;
    const { problems } = dataPlane.status({ shares: false });
    const awaited = awaitedListeners(config.listen.addresses);
    for (const problem of [...configWarnings(config), ...awaited, ...problems]) {
      observer.problem(problem);
    }
  }
}
