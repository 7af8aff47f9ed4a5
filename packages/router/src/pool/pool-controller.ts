import type { ProbeResult } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { ProbeTarget } from '../health/health-checker.ts';
import { verdictOf } from '../health/verdict.ts';
import type { MembershipEvent } from '../membership/membership-source.ts';
import type { Transition, WeightedNextHop } from './member-view.ts';
import type { OperatorDrain } from './operator-drain.ts';
import type { Pool } from './pool.ts';
import type { PoolEvent } from './pool-event.ts';

export interface PoolControllerOptions {
  /** By VIP, `10.100.0.1/32`. */
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: Pick<DataPlane, 'setNextHops' | 'setProbed'>;
  readonly clock: Clock;
  /** Hears of the members to probe. */
  readonly setTargets: (vip: string, targets: readonly ProbeTarget[]) => void;
  /** The pool has changed, or is in doubt now or no more, and the kernel does what it says. */
  readonly onChanged: (vip: string) => void;
  readonly onTransition: (vip: string, transition: Transition) => void;
}

/** Runs the pools: gives them events and the time, and does what they decide, the kernel first. */
export class PoolController {
  #options: PoolControllerOptions;
  #cancels = new Map<string, () => void>();
  #probed = '';

  constructor(options: PoolControllerOptions) {
    this.#options = options;
  }

  /** Members that were found forwarded to at start. */
  adopt(vip: string, members: readonly WeightedNextHop[]): void {
    if (members.length > 0) {
      this.#handle(vip, { type: 'adopted', members });
    }
  }

  membership(event: MembershipEvent): void {
    switch (event.type) {
      case 'session':
      case 'complete':
      case 'barrier':
        // These concern all VIPs of the address family: members are next hops.
        this.#handleAll(event.nextHop.includes(':'), event);
        return;
      case 'lost':
        for (const isIpv6 of [false, true]) {
          const members = event.members.filter(({ nextHop }) => nextHop.includes(':') === isIpv6);
          if (members.length > 0) {
            this.#handleAll(isIpv6, { ...event, members });
          }
        }
        return;
      default: {
        const { vip, ...rest } = event;
        this.#handle(vip, rest);
      }
    }
  }

  /** The interface towards a next hop has lost its carrier, in words, or has it again. */
  link(nextHop: string, reason: string | undefined): void {
    this.#handleAll(nextHop.includes(':'), { type: 'barrier', nextHop, barrier: 'link', reason });
  }

  /** The operator drains a member, or does no more. */
  drain(nextHop: string, drain: OperatorDrain | undefined): void {
    this.#handleAll(nextHop.includes(':'), { type: 'operator', nextHop, drain });
  }

  #handleAll(isIpv6: boolean, event: PoolEvent): void {
    for (const vip of this.#options.pools.keys()) {
      if (vip.includes(':') === isIpv6) {
        this.#handle(vip, event);
      }
    }
  }

  probed(vip: string, nextHop: string, result: ProbeResult): void {
    const verdict = verdictOf(result);
    this.#handle(vip, { type: 'probed', nextHop, verdict, detail: result.detail });
  }

  /** The pools go by other settings: what follows from them is done at once. */
  reconsider(): void {
    for (const vip of this.#options.pools.keys()) {
      this.#handle(vip, { type: 'tick' });
    }
  }

  /** No timer fires any more. */
  close(): void {
    for (const cancel of this.#cancels.values()) {
      cancel();
    }
    this.#cancels.clear();
  }

  #handle(vip: string, event: PoolEvent): void {
    const pool = this.#options.pools.get(vip);
    if (pool === undefined) {
      return;
    }
    const wasDoubtful = pool.isDoubtful;
    const transitions = pool.handle(event, this.#options.clock.now());
    const hasChanged = transitions.some(({ heldFor }) => heldFor === undefined);
    if (hasChanged) {
      // Before anything else: every millisecond here is one in which packets go to a dead member.
      this.#options.dataPlane.setNextHops(vip, pool.nextHops());
    }
    if (hasChanged || pool.isDoubtful !== wasDoubtful) {
      this.#options.onChanged(vip);
    }
    this.#updateProbes(vip, pool);
    this.#schedule(vip, pool);
    for (const transition of transitions) {
      this.#options.onTransition(vip, transition);
    }
  }

  #updateProbes(vip: string, pool: Pool): void {
    const targets = [...this.#options.pools.values()].flatMap((one) => one.probes());
    const nextHops = [...new Set(targets.map(({ nextHop }) => nextHop))].sort();
    if (nextHops.join() !== this.#probed) {
      this.#probed = nextHops.join();
      this.#options.dataPlane.setProbed(nextHops);
    }
    this.#options.setTargets(vip, pool.probes());
  }

  #schedule(vip: string, pool: Pool): void {
    const { clock } = this.#options;
    this.#cancels.get(vip)?.();
    this.#cancels.delete(vip);
    const { wakeAt } = pool;
    if (wakeAt !== undefined) {
      const cancel = clock.after(wakeAt - clock.now(), () => this.#handle(vip, { type: 'tick' }));
      this.#cancels.set(vip, cancel);
    }
  }
}
