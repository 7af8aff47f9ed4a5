import type { ProbeResult } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { ProbeTarget } from '../health/health-checker.ts';
import { verdictOf } from '../health/verdict.ts';
import type { MembershipEvent, StandingEvent } from '../membership/membership-source.ts';
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
  /** Next hops without carrier, and those that the operator drains: a pool that begins later is to know. */
  #links = new Map<string, string>();
  #drains = new Map<string, OperatorDrain>();

  constructor(options: PoolControllerOptions) {
    this.#options = options;
  }

  /** Members that were found forwarded to at start. */
  adopt(vip: string, members: readonly WeightedNextHop[]): void {
    if (members.length > 0) {
      this.#handle(vip, { type: 'adopted', members });
    }
  }

  /**
   * A pool that was not there before is told what the others know of the members besides their paths.
   * @param standing what the membership source says of those that there are
   */
  begin(vip: string, standing: readonly StandingEvent[]): void {
    const events: PoolEvent[] = [
      ...standing,
      ...[...this.#links].map(
        ([nextHop, reason]) => ({ type: 'barrier', nextHop, barrier: 'link', reason }) as const,
      ),
      ...[...this.#drains].map(([nextHop, drain]) => ({ type: 'operator', nextHop, drain }) as const),
    ];
    for (const event of events) {
      if ('nextHop' in event && event.nextHop.includes(':') === vip.includes(':')) this.#handle(vip, event);
    }
  }

  /** A pool that is there no more: its members are probed no more for it, and its timer does not fire. */
  end(vip: string): void {
    this.#cancels.get(vip)?.();
    this.#cancels.delete(vip);
    this.#options.setTargets(vip, []);
    this.#setProbed();
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
    keep(this.#links, nextHop, reason);
    this.#handleAll(nextHop.includes(':'), { type: 'barrier', nextHop, barrier: 'link', reason });
  }

  /** The operator drains a member, or does no more. */
  drain(nextHop: string, drain: OperatorDrain | undefined): void {
    keep(this.#drains, nextHop, drain);
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
    this.#setProbed();
    this.#options.setTargets(vip, pool.probes());
  }

  #setProbed(): void {
    const targets = [...this.#options.pools.values()].flatMap((one) => one.probes());
    const nextHops = [...new Set(targets.map(({ nextHop }) => nextHop))].sort();
    if (nextHops.join() !== this.#probed) {
      this.#probed = nextHops.join();
      this.#options.dataPlane.setProbed(nextHops);
    }
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

function keep<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
