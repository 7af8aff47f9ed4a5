import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProbeVerdict } from './member-view.ts';
import { Pool } from './pool.ts';
import type { PoolEvent } from './pool-event.ts';
import { bgp, settings } from './testing/pool-bench.ts';

const nextHop = fc.constantFrom('a', 'b', 'c', 'd');
const event: fc.Arbitrary<PoolEvent> = fc.oneof(
  fc.record({
    type: fc.constant('announced' as const),
    source: fc.constant(bgp),
    nextHop,
    name: fc.constant('m'),
    intent: fc.constantFrom('active' as const, 'last-resort' as const, 'draining' as const),
    identities: fc.constantFrom<number[]>([], [1], [1, 2], [3]),
  }),
  fc.record({
    type: fc.constant('stale' as const),
    source: fc.constant(bgp),
    nextHop,
    reason: fc.constant('closed'),
  }),
  fc.record({
    type: fc.constant('withdrawn' as const),
    source: fc.constant(bgp),
    nextHop,
    reason: fc.constant('hold timer expired'),
  }),
  fc.record({ type: fc.constant('complete' as const), source: fc.constant(bgp), nextHop }),
  fc.record({
    type: fc.constant('barrier' as const),
    nextHop,
    barrier: fc.constantFrom('link' as const, 'bfd' as const),
    reason: fc.constantFrom('no carrier on eth0', undefined),
  }),
  {
    arbitrary: fc.record({
      type: fc.constant('probed' as const),
      nextHop,
      verdict: fc.constantFrom<ProbeVerdict[]>('good', 'good', 'soft', 'unreachable', 'refused'),
      detail: fc.constant('probe'),
    }),
    weight: 8,
  },
  fc.constant<PoolEvent>({ type: 'tick' }),
);
/** Together with the others' loss: the last ones are kept in doubt, which the first property does not know of. */
const lossOfOne: fc.Arbitrary<PoolEvent> = nextHop.map((lost) => ({
  type: 'lost',
  members: [{ nextHop: lost, reason: 'BFD down' }],
  window: 900,
}));
const withLosses = fc.array(
  fc.tuple(fc.oneof({ arbitrary: event, weight: 9 }, lossOfOne), fc.integer({ min: 0, max: 5000 })),
  { maxLength: 200 },
);
const history = fc.array(fc.tuple(event, fc.integer({ min: 0, max: 5000 })), { maxLength: 200 });

/** The plainest possible account of who may be in the pool: advertised, and passed since. */
class Oracle {
  #paths = new Set<string>();
  #passed = new Set<string>();
  #goodRun = new Map<string, number>();
  #refusedRun = new Map<string, number>();

  see(event: PoolEvent): void {
    if (event.type === 'announced') {
      this.#paths.add(event.nextHop);
    } else if (event.type === 'withdrawn') {
      for (const known of [this.#paths, this.#passed, this.#goodRun, this.#refusedRun]) {
        known.delete(event.nextHop);
      }
    } else if (event.type === 'probed' && this.#paths.has(event.nextHop)) {
      this.#count(event.nextHop, event.verdict);
    }
  }

  mayServe(member: string): boolean {
    return (
      this.#paths.has(member) &&
      this.#passed.has(member) &&
      (this.#refusedRun.get(member) ?? 0) < settings.fall
    );
  }

  #count(member: string, verdict: ProbeVerdict): void {
    const good = verdict === 'good' ? (this.#goodRun.get(member) ?? 0) + 1 : 0;
    this.#goodRun.set(member, good);
    this.#refusedRun.set(member, verdict === 'refused' ? (this.#refusedRun.get(member) ?? 0) + 1 : 0);
    if (good >= settings.rise) {
      this.#passed.add(member);
    }
  }
}

it('never uses a member that withdrew, lost its session for good, never passed, or refuses connections', () => {
  fc.assert(
    fc.property(history, (events) => {
      const pool = new Pool('vip', settings);
      const oracle = new Oracle();
      let now = 0;
      for (const [next, elapsed] of events) {
        now += elapsed;
        oracle.see(next);
        pool.handle(next, now);
        for (const { nextHop, weight } of pool.nextHops()) {
          expect(oracle.mayServe(nextHop)).toBe(true);
          expect(weight === 1 || weight === 256).toBe(true);
        }
      }
    }),
    { numRuns: 300 },
  );
});

it('says of every member in the pool that it is in, and gives every other one a reason', () => {
  fc.assert(
    fc.property(withLosses, (events) => {
      const pool = new Pool('vip', settings);
      let now = 0;
      for (const [next, elapsed] of events) {
        now += elapsed;
        pool.handle(next, now);
        for (const view of pool.members()) {
          expect(view.inPool).toBe(view.state !== 'out');
          expect(view.inPool || view.reason !== '').toBe(true);
        }
        expect(pool.wakeAt === undefined || pool.wakeAt > now).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});

it('is never empty while a member that serves well stays', () => {
  fc.assert(
    fc.property(withLosses, (events) => {
      const pool = new Pool('vip', settings);
      pool.handle({ type: 'announced', source: bgp, nextHop: 'z', name: 'z', intent: 'active' }, 0);
      pool.handle({ type: 'probed', nextHop: 'z', verdict: 'good', detail: '' }, 0);
      pool.handle({ type: 'probed', nextHop: 'z', verdict: 'good', detail: '' }, 0);
      pool.handle({ type: 'tick' }, 2000);
      let now = 2000;
      for (const [next, elapsed] of events) {
        now += elapsed;
        pool.handle(next, now);
        expect(pool.nextHops()).toContainEqual({ nextHop: 'z', weight: 256 });
      }
    }),
    { numRuns: 200 },
  );
});

it('never has members of two clusters in use at a time', () => {
  fc.assert(
    fc.property(history, (events) => {
      const pool = new Pool('vip', settings);
      const said = new Map<string, readonly number[]>();
      let now = 0;
      for (const [next, elapsed] of events) {
        now += elapsed;
        if (next.type === 'announced') said.set(next.nextHop, next.identities ?? []);
        pool.handle(next, now);
        const inUse = pool.nextHops().flatMap((one) => said.get(one.nextHop) ?? []);
        expect(inUse.includes(3) && (inUse.includes(1) || inUse.includes(2))).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
