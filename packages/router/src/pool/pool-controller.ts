import { ipVersion, isSameVersion } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';
import type { DataPlane } from '../dataplane/data-plane.ts';
import type { ProbeTarget } from '../health/health-checker.ts';
import type { ProbeReport } from '../health/member-probe.ts';
import type { FromSource, MembershipEvent, StandingEvent } from '../membership/membership-source.ts';
import type { Transition, WeightedNextHop } from './member-view.ts';
import type { OperatorDrain } from './operator-drain.ts';
import type { Pool } from './pool.ts';
import type { PoolEvent } from './pool-event.ts';

export interface PoolControllerOptions {
  /** By VIP, `10.100.0.1/32`. */
  readonly pools: ReadonlyMap<string, Pool>;
  readonly dataPlane: Pick<DataPlane, 'setNextHops' | 'probeWays'>;
  readonly clock: Clock;
  /** Hears of the members to probe. */
  readonly setTargets: (vip: string, targets: readonly ProbeTarget[]) => void;
  /** The pool has changed, or is in doubt now or no more, and the kernel does what it says. */
  readonly onChanged: (vip: string) => void;
  readonly onTransition: (vip: string, transition: Transition) => void;
}

/** An event for the pool of a VIP. */
type PoolInput = readonly [vip: string, event: PoolEvent];

/** What the events of one moment did to a pool. */
interface Outcome {
  readonly pool: Pool;
  readonly portsBefore: string;
  readonly wasDoubtful: boolean;
  hasChanged: boolean;
  readonly transitions: Transition[];
}

/** Runs the pools: gives them events and the time, and does what they decide, the kernel first. */
export class PoolController {
  #options: PoolControllerOptions;
  /** VIPs whose pools are run. */
  #vips: ReadonlySet<string>;
  #cancels = new Map<string, () => void>();
  #probed = '';
  /** Next hops without carrier, and those that the operator drains: a pool that begins later is to know. */
  #links = new Map<string, string>();
  #drains = new Map<string, OperatorDrain>();

  constructor(options: PoolControllerOptions) {
    this.#options = options;
    this.#vips = new Set(options.pools.keys());
  }

  /** Members that were found forwarded to at start. */
  adopt(vip: string, members: readonly WeightedNextHop[]): void {
    if (members.length > 0) {
      this.#handle([[vip, { type: 'adopted', members }]]);
    }
  }

  /**
   * Runs the pools that there are now. The members of one that is gone are probed no more for it. One that is new is told what it is
   * forwarded to already, and what the other pools know of the members besides their paths.
   * @param adopted next hops that new VIPs are forwarded to
   * @param standing what the membership sources say of the members that there are
   */
  configure(
    adopted: ReadonlyMap<string, readonly WeightedNextHop[]>,
    standing: readonly FromSource<StandingEvent>[],
  ): void {
    const before = this.#vips;
    this.#vips = new Set(this.#options.pools.keys());
    for (const vip of before) if (!this.#vips.has(vip)) this.#end(vip);
    for (const vip of this.#vips) {
      if (before.has(vip)) continue;
      this.adopt(vip, adopted.get(vip) ?? []);
      this.#begin(vip, standing);
    }
  }

  #begin(vip: string, standing: readonly FromSource<StandingEvent>[]): void {
    const events: PoolEvent[] = [
      ...standing,
      ...[...this.#links].map(
        ([nextHop, reason]) => ({ type: 'barrier', nextHop, barrier: 'link', reason }) as const,
      ),
      ...[...this.#drains].map(([nextHop, drain]) => ({ type: 'operator', nextHop, drain }) as const),
    ];
    const isOfFamily = (event: PoolEvent): boolean => 'nextHop' in event && isSameVersion(event.nextHop, vip);
    this.#handle(events.filter(isOfFamily).map((event) => [vip, event]));
  }

  #end(vip: string): void {
    this.#cancels.get(vip)?.();
    this.#cancels.delete(vip);
    this.#options.setTargets(vip, []);
    this.#setProbed();
  }

  /** What happened at one moment: what it changes of several VIPs is one change to the kernel. */
  membership(events: readonly FromSource<MembershipEvent>[]): void {
    this.#handle(events.flatMap((event) => this.#concerned(event)));
  }

  #concerned(event: FromSource<MembershipEvent>): PoolInput[] {
    switch (event.type) {
      case 'session':
      case 'complete':
      case 'barrier':
        // These concern all VIPs of the address family: members are next hops.
        return this.#ofVersion(ipVersion(event.nextHop), event);
      case 'lost':
        return ([4, 6] as const).flatMap((version) => {
          const members = event.members.filter(({ nextHop }) => ipVersion(nextHop) === version);
          return members.length === 0 ? [] : this.#ofVersion(version, { ...event, members });
        });
      default: {
        const { vip, ...rest } = event;
        return [[vip, rest]];
      }
    }
  }

  /** The interface towards a next hop has lost its carrier, in words, or has it again. */
  link(nextHop: string, reason: string | undefined): void {
    keep(this.#links, nextHop, reason);
    this.#handle(this.#ofVersion(ipVersion(nextHop), { type: 'barrier', nextHop, barrier: 'link', reason }));
  }

  /** The operator drains a member, or does no more. */
  drain(nextHop: string, drain: OperatorDrain | undefined): void {
    keep(this.#drains, nextHop, drain);
    this.#handle(this.#ofVersion(ipVersion(nextHop), { type: 'operator', nextHop, drain }));
  }

  /** What clients' own packets say of the members of a VIP, in the order in which they were doubted. */
  doubt(vip: string, doubts: ReadonlyMap<string, string>): void {
    this.#handle([[vip, { type: 'doubts', doubts }]]);
  }

  #ofVersion(version: 4 | 6, event: PoolEvent): PoolInput[] {
    const vips = [...this.#options.pools.keys()].filter((vip) => ipVersion(vip) === version);
    return vips.map((vip) => [vip, event]);
  }

  probed(vip: string, nextHop: string, { verdict, detail }: ProbeReport): void {
    if (verdict === undefined) {
      return;
    }
    this.#handle([[vip, { type: 'probed', nextHop, verdict, detail }]]);
  }

  /** The pools go by other settings: what follows from them is done at once. */
  reconsider(): void {
    this.#handle([...this.#options.pools.keys()].map((vip) => [vip, { type: 'tick' }]));
  }

  /** No timer fires any more. */
  close(): void {
    for (const cancel of this.#cancels.values()) {
      cancel();
    }
    this.#cancels.clear();
  }

  /** Gives each pool its events, in order, and then does what they all have decided. */
  #handle(inputs: readonly PoolInput[]): void {
    const outcomes = this.#decide(inputs);
    const changed = [...outcomes].filter(([, { hasChanged }]) => hasChanged);
    if (changed.length > 0) {
      // Before anything else: every millisecond here is one in which packets go to a dead member.
      this.#options.dataPlane.setNextHops(new Map(changed.map(([vip, { pool }]) => [vip, pool.nextHops()])));
    }
    for (const [vip, { pool, hasChanged, wasDoubtful }] of outcomes) {
      if (hasChanged || pool.isDoubtful !== wasDoubtful) {
        this.#options.onChanged(vip);
      }
    }
    this.#setProbed();
    for (const [vip, { pool }] of outcomes) {
      this.#options.setTargets(vip, pool.probes());
      this.#schedule(vip, pool);
    }
    for (const [vip, { transitions }] of outcomes) {
      for (const transition of transitions) {
        this.#options.onTransition(vip, transition);
      }
    }
  }

  #decide(inputs: readonly PoolInput[]): ReadonlyMap<string, Outcome> {
    const now = this.#options.clock.now();
    const outcomes = new Map<string, Outcome>();
    for (const [vip, event] of inputs) {
      const pool = this.#options.pools.get(vip);
      if (pool === undefined) continue;
      const outcome = outcomes.get(vip) ?? {
        pool,
        portsBefore: portsOf(pool),
        wasDoubtful: pool.isDoubtful,
        hasChanged: false,
        transitions: [],
      };
      outcomes.set(vip, outcome);
      const transitions = pool.handle(event, now);
      outcome.transitions.push(...transitions);
      outcome.hasChanged ||= transitions.some(({ heldFor }) => heldFor === undefined);
    }
    // Of a member that goes on as it was, also the place where it is used may have changed.
    for (const outcome of outcomes.values())
      outcome.hasChanged ||= portsOf(outcome.pool) !== outcome.portsBefore;
    return outcomes;
  }

  #setProbed(): void {
    const targets = [...this.#options.pools.values()].flatMap((one) => one.probes());
    const nextHops = [...new Set(targets.map(({ nextHop }) => nextHop))].sort();
    if (nextHops.join() !== this.#probed) {
      this.#probed = nextHops.join();
      this.#options.dataPlane.probeWays?.setProbed(nextHops);
    }
  }

  #schedule(vip: string, pool: Pool): void {
    const { clock } = this.#options;
    this.#cancels.get(vip)?.();
    this.#cancels.delete(vip);
    const { wakeAt } = pool;
    if (wakeAt !== undefined) {
      const cancel = clock.after(wakeAt - clock.now(), () => this.#handle([[vip, { type: 'tick' }]]));
      this.#cancels.set(vip, cancel);
    }
  }
}

function portsOf(pool: Pool): string {
  return pool
    .nextHops()
    .map(({ nextHop, port }) => `${nextHop} ${port}`)
    .join();
}

function keep<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}
