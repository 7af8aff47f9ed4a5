import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ProbeVerdict } from './member-view.ts';
import type { PoolEvent } from './pool-event.ts';
import { Bench, bgp, settings } from './testing/pool-bench.ts';

const members = ['a', 'b', 'c', 'd', 'e'] as const;
const nextHop = fc.constantFrom(...members);

/** What makes members leave and return, without what depends on whether they were in use just then. */
const event: fc.Arbitrary<PoolEvent[]> = fc.oneof(
  nextHop.map((one): PoolEvent[] => [
    { type: 'withdrawn', source: bgp, nextHop: one, reason: 'withdrawn' },
    { type: 'announced', source: bgp, nextHop: one, name: one, intent: 'active' },
  ]),
  fc
    .record({
      type: fc.constant('announced' as const),
      source: fc.constant(bgp),
      nextHop,
      name: fc.constant('m'),
      intent: fc.constantFrom(
        'active' as const,
        'active' as const,
        'last-resort' as const,
        'draining' as const,
      ),
    })
    .map((one) => [one]),
  {
    arbitrary: fc
      .tuple(nextHop, fc.constantFrom<ProbeVerdict[]>('good', 'good', 'good', 'soft', 'refused'))
      .map(([one, verdict]): PoolEvent[] =>
        Array.from({ length: 3 }, () => ({ type: 'probed', nextHop: one, verdict, detail: verdict })),
      ),
    weight: 6,
  },
);
const history = fc.array(fc.tuple(event, fc.constantFrom(0, 50, 1000, 4000, 30_000, 400_000)), {
  minLength: 20,
  maxLength: 150,
});

/** The same pool twice, with damping and without. */
function twins(): readonly [Bench, Bench] {
  const made = [new Bench(), new Bench({ flapHold: 0 })] as const;
  for (const bench of made) {
    for (const member of members) {
      bench.announce(member).probe(member, 'good', 2);
    }
    bench.wait(2000);
  }
  return made;
}

function full(bench: Bench): string[] {
  return Object.entries(bench.weights()).flatMap(([member, weight]) => (weight === 256 ? [member] : []));
}

it('never holds back so many that less than the panic threshold of those who could serve does', () => {
  let held = 0;
  fc.assert(
    fc.property(history, (events) => {
      const [damped, free] = twins();
      for (const [list, elapsed] of events) {
        for (const one of list) {
          damped.send(one);
          free.send(one);
        }
        damped.wait(elapsed);
        free.wait(elapsed);
        const [some, all] = [full(damped), full(free)];
        held += all.length - some.length;
        expect(some.every((member) => all.includes(member))).toBe(true);
        expect(some.length).toBeGreaterThanOrEqual(Math.ceil(all.length * settings.panicThreshold));
        // Some member serves wherever one would without damping.
        expect(Object.keys(damped.weights()).length > 0).toBe(Object.keys(free.weights()).length > 0);
      }
    }),
    { numRuns: 150 },
  );
  // That the histories do what the test is about.
  expect(held).toBeGreaterThan(0);
});

it('lets every member that stays good in again, after the longest hold at the latest', () => {
  fc.assert(
    fc.property(history, (events) => {
      const [damped, free] = twins();
      for (const [list, elapsed] of events) {
        for (const one of list) {
          damped.send(one);
          free.send(one);
        }
        damped.wait(elapsed);
        free.wait(elapsed);
      }
      const hold = Math.max(settings.flapHoldMax, settings.evictAfter) + settings.initialHold;
      expect(damped.wait(hold).weights()).toEqual(free.wait(hold).weights());
    }),
    { numRuns: 150 },
  );
});
