import type { ListedMember, MemberSession } from '../member-claims.ts';
import type { SourceId } from '../member-source.ts';
import type { ProbeVerdict } from '../member-view.ts';
import { Pool } from '../pool.ts';
import type { PoolEvent } from '../pool-event.ts';
import type { PoolSettings } from '../pool-settings.ts';

/** Numbers that tests are written for. */
export const settings: PoolSettings = {
  rise: 2,
  fall: 3,
  panicThreshold: 0.5,
  evictAfter: 15_000,
  staleTime: 60_000,
  initialHold: 2000,
  expected: [],
  isOpen: false,
  hearsSpeakers: true,
  identities: [],
  flapHold: 2000,
  flapHoldMax: 120_000,
  flapDecay: 300_000,
};

/** Who reports what members announce. */
export const bgp: SourceId = { kind: 'bgp', name: '' };

export const up: MemberSession = { isLive: true, state: 'Established' };
export const down: MemberSession = { isLive: false, state: 'Idle' };

/** An event that BGP reports, unless it says who does. */
type Said<E = PoolEvent> = E extends { readonly source: SourceId }
  ? Omit<E, 'source'> & { readonly source?: SourceId }
  : E;

/** A pool with its own clock, driven by words. */
export class Bench {
  now = 1000;
  readonly pool: Pool;

  constructor(changed: Partial<PoolSettings> = {}) {
    this.pool = new Pool('10.100.0.1/32', { ...settings, ...changed });
  }

  send(event: Said): this {
    this.pool.handle({ source: bgp, ...event } as PoolEvent, this.now);
    return this;
  }

  /** Moves time on, with a tick at every deadline on the way. */
  wait(ms: number): this {
    const end = this.now + ms;
    while (this.pool.wakeAt !== undefined && this.pool.wakeAt <= end) {
      this.now = this.pool.wakeAt;
      this.send({ type: 'tick' });
    }
    this.now = end;
    return this.send({ type: 'tick' });
  }

  announce(
    nextHop: string,
    intent: 'active' | 'last-resort' | 'draining' = 'active',
    identities: readonly number[] = [],
  ): this {
    this.send({ type: 'session', nextHop, name: nextHop, session: up });
    return this.send({ type: 'announced', nextHop, name: nextHop, intent, identities });
  }

  /** The whole list of a ConfigMap. */
  list(...members: readonly (string | ListedMember)[]): this {
    return this.send({
      type: 'listed',
      source: { kind: 'configMap', name: 'lb/pool' },
      members: members.map((one) =>
        typeof one === 'string' ? { name: one, address: one, draining: false } : one,
      ),
    });
  }

  probe(nextHop: string, verdict: ProbeVerdict, times: number): this {
    for (let i = 0; i < times; i++) {
      this.send({ type: 'probed', nextHop, verdict, detail: verdict });
    }
    return this;
  }

  /** `{a: 256, b: 1}`: the weights of those in the pool. */
  weights(): Record<string, number> {
    return Object.fromEntries(this.pool.nextHops().map(({ nextHop, weight }) => [nextHop, weight]));
  }

  state(nextHop: string): string {
    const member = this.pool.members().find((view) => view.nextHop === nextHop);
    return `${member?.state}: ${member?.reason}`;
  }
}

/** Members that have passed and the initial hold over. */
export function running(...members: string[]): Bench {
  const bench = new Bench();
  for (const member of members) {
    bench.announce(member).probe(member, 'good', 2);
  }
  return bench.wait(2000);
}
