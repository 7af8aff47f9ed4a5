import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DrainRequest, LifecycleInput } from './lifecycle-input.ts';
import { step } from './step.ts';
import { desiredOf, type VipState } from './vip-state.ts';

const times = {
  drainTimeout: 3_000,
  holdLimit: 250,
  closingLimit: 500,
  inFlightLimit: 1_000,
  moveOnLimit: 500,
};

const input: fc.Arbitrary<LifecycleInput> = fc.record({
  role: fc.constantFrom('init', 'join'),
  bootstrap: fc.constantFrom('unproven', 'proven', 'proven', 'proven', 'void'),
  bootstrapDetail: fc.constant('b'),
  readiness: fc.constantFrom('unknown', 'ready', 'ready', 'soft', 'unauthorized', 'stopping', 'hard'),
  readinessDetail: fc.constant('r'),
  isPortClosed: fc.boolean(),
  clients: fc.constantFrom(undefined, 0, 3),
  drain: fc.constantFrom<DrainRequest | undefined>(
    undefined,
    undefined,
    { by: 'drain file', isForced: true },
    { by: 'command', isForced: false, timeout: 1_000 },
  ),
  isHurried: fc.boolean(),
  others: fc.constantFrom(0, 2),
  isHeld: fc.boolean(),
  haveMovedOn: fc.boolean(),
  bindCheck: fc.constantFrom('pending', 'passed', 'passed', 'failed', 'wrong-certificate'),
  bindCheckDetail: fc.constant('c'),
  hasAdvertised: fc.boolean(),
});

const history = fc.array(fc.tuple(input, fc.integer({ min: 0, max: 2_000 })), {
  minLength: 1,
  maxLength: 60,
});

/** Runs a history and hands each step to a check. */
function along(
  steps: readonly (readonly [LifecycleInput, number])[],
  check: (before: VipState, after: VipState, given: LifecycleInput, now: number) => void,
): void {
  let state: VipState = { name: 'absent' };
  let now = 0;
  for (const [given, wait] of steps) {
    now += wait;
    const next: VipState = step(state, given, times, now).state;
    check(state, next, given, now);
    state = next;
  }
}

describe('over any history', () => {
  it('no joiner has the VIP before its bootstrap is proven', () => {
    fc.assert(
      fc.property(history, (steps) => {
        along(steps, (_, after, given) => {
          if (given.role === 'join' && given.bootstrap !== 'proven')
            expect(desiredOf(after).isBound).toBe(false);
        });
      }),
    );
  });

  it('nothing is advertised whose bootstrap is unproven or whose API server does not answer', () => {
    fc.assert(
      fc.property(history, (steps) => {
        along(steps, (_, after, given) => {
          if (desiredOf(after).advertisement === 'none') return;
          expect(given.bootstrap).toBe('proven');
          expect(given.readiness).not.toBe('hard');
        });
      }),
    );
  });

  it('only a ready API server, or one not yet judged anew, is advertised with full weight', () => {
    fc.assert(
      fc.property(history, (steps) => {
        along(steps, (_, after, given) => {
          if (after.name === 'advertised') expect(['ready', 'unknown']).toContain(given.readiness);
        });
      }),
    );
  });

  it('a VIP is bound before it is advertised, and withdrawn before a drain unbinds it', () => {
    fc.assert(
      fc.property(history, (steps) => {
        along(steps, (before, after, given) => {
          if (before.name === 'absent') expect(desiredOf(after).advertisement).toBe('none');
          if (before.name === 'draining' && after.name === 'absent' && given.bootstrap === 'proven') {
            expect(before.withdrawnAt).toBeDefined();
          }
        });
      }),
    );
  });

  it('a drain that nobody forces withdraws only where another master is known', () => {
    fc.assert(
      fc.property(history, (steps) => {
        let end: LifecycleInput | undefined;
        along(steps, (before, after, given) => {
          const isClosing = (state: VipState): boolean =>
            state.name === 'draining' && state.closing !== undefined;
          if (!isClosing(before) && isClosing(after)) end = given;
          const hasWithdrawn = after.name === 'draining' && after.withdrawnAt !== undefined;
          if (!hasWithdrawn || end === undefined) return;
          const { drain, readiness, isHurried, others } = end;
          expect(
            others > 0 ||
              drain?.isForced !== false ||
              isHurried ||
              readiness === 'stopping' ||
              readiness === 'hard',
          ).toBe(true);
        });
      }),
    );
  });

  it('settles: the same input at the same time changes nothing after five steps', () => {
    fc.assert(
      fc.property(history, input, (steps, last) => {
        let state: VipState = { name: 'absent' };
        along(steps, (_, after) => {
          state = after;
        });
        const now = 1_000_000;
        for (let i = 0; i < 5; i += 1) state = step(state, last, times, now).state;
        expect(step(state, last, times, now).state).toEqual(state);
      }),
    );
  });
});
