import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { acquireInstanceLock, type InstanceLock, type RunningDaemon } from '@bgp-lb/daemon';
import { awaitedListeners } from './bgp/awaited-listeners.ts';
import { configWarnings } from './config/config-warnings.ts';
import type { DataPlaneHandlers } from './dataplane/data-plane.ts';
import { makeRouterParts, type RouterOptions, type RouterParts } from './router-parts.ts';

/** Builds the router, takes over what the data plane has, and starts it. */
export async function startRouter(options: RouterOptions): Promise<RunningDaemon> {
  const { config } = options;
  mkdirSync(config.stateDir, { recursive: true, mode: 0o755 });
  const lock = await acquireInstanceLock(join(config.stateDir, 'router.lock'));
  const router = new Router(makeRouterParts(options), lock);
  await router.start();
  return {
    stop: () => router.stop(),
    reload: () => router.reload(),
    checkWell: () => router.checkWell(),
  };
}

/** The order in which the parts begin and end. */
class Router {
  readonly #parts: RouterParts;
  readonly #lock: InstanceLock;

  constructor(parts: RouterParts, lock: InstanceLock) {
    this.#parts = parts;
    this.#lock = lock;
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
    this.#parts.vrrp?.router.start();
    this.#parts.clients.start();
    this.#parts.stalls.start();
    this.#parts.instance.start();
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
  async stop(): Promise<void> {
    const parts = this.#parts;
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
    this.#lock.release();
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
