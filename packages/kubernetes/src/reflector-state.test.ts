import { describe, expect, it } from 'vitest';
import {
  initialState,
  nextState,
  type ReflectorEvent,
  type ReflectorState,
  retryDelay,
  watchSeconds,
} from './reflector-state.ts';

const listed: ReflectorEvent = { type: 'listed', resourceVersion: '9' };
const broken: ReflectorEvent = { type: 'failed', kind: 'unreachable', reason: 'ECONNREFUSED', lastedMs: 3 };

function after(events: readonly ReflectorEvent[], from: ReflectorState = initialState): ReflectorState {
  return events.reduce((state, event) => nextState(state, event, 1_000), from);
}

describe('what is done next', () => {
  it('is a list, then a watch from its version, and from each later one', () => {
    expect(initialState.next).toBe('list');
    expect(after([listed])).toMatchObject({ next: 'watch', resourceVersion: '9', listedAt: 1_000 });
    expect(after([listed, { type: 'heard', resourceVersion: '20' }]).resourceVersion).toBe('20');
    expect(after([listed, { type: 'ended', lastedMs: 300_000 }]).next).toBe('watch');
  });

  it('is a list after any refusal or malformed answer, and the watch where it was after a broken connection', () => {
    for (const kind of ['refused', 'malformed'] as const) {
      const event: ReflectorEvent = { type: 'failed', kind, reason: 'x', lastedMs: 3 };
      expect(after([listed, event])).toMatchObject({ next: 'list', failures: 1, error: 'x' });
    }
    expect(after([listed, broken])).toMatchObject({ next: 'watch', resourceVersion: '9', failures: 1 });
    expect(after([broken])).toMatchObject({ next: 'list', succeededAt: undefined });
  });

  it('comes after 1 s to 30 s with jitter, slower with each failure, also where lists succeed and watches do not', () => {
    expect(retryDelay(after([listed]), 0.9)).toBe(0);
    expect(retryDelay(after([broken]), 0)).toBe(1_000);
    expect(retryDelay(after([broken]), 1)).toBe(2_000);
    expect(retryDelay(after([broken, broken]), 1)).toBe(4_000);
    const many = new Array<ReflectorEvent>(2_000).fill(broken);
    expect([retryDelay(after(many), 0), retryDelay(after(many), 1)]).toEqual([15_000, 30_000]);
    const useless: ReflectorEvent[] = [listed, { type: 'ended', lastedMs: 2 }];
    expect(retryDelay(after([...useless, ...useless, ...useless]), 1)).toBe(8_000);
    // A watch that worked for long before it broke starts from the first delay.
    const late: ReflectorEvent = { ...broken, lastedMs: 60_000 };
    expect(retryDelay(after([listed, broken, broken, late]), 1)).toBe(2_000);
  });

  it('is not changed by a list beside the watch that fails, which is an error until the next one', () => {
    const unconfirmed: ReflectorEvent = { type: 'unconfirmed', reason: 'poll: 500' };
    expect(after([listed, unconfirmed])).toMatchObject({
      next: 'watch',
      failures: 0,
      pollError: 'poll: 500',
    });
    expect(after([listed, unconfirmed, { type: 'confirmed' }]).pollError).toBeUndefined();
    // And one that succeeds says nothing of a watch that fails.
    expect(after([listed, broken, { type: 'confirmed' }]).error).toBe('ECONNREFUSED');
    expect(after([listed, broken, listed]).error).toBe('ECONNREFUSED');
  });

  it('has no error once a watch is open for a while, also when there is nothing to tell', () => {
    expect(after([listed, broken, { type: 'watching' }])).toMatchObject({ error: undefined, failures: 0 });
  });

  it('asks for watches of 300 to 600 seconds', () => {
    expect([watchSeconds(0), watchSeconds(0.999_999)]).toEqual([300, 600]);
  });
});
