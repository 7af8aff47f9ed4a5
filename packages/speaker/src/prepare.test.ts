import { describe, expect, it } from 'vitest';
import { type BootstrapState, noBootstrap } from './bootstrap/bootstrap-state.ts';
import { preparedState } from './prepare.ts';

const now = '2026-01-01T00:00:00.000Z';
const latch = {
  machineId: 'm',
  caKeys: ['k'],
  caDigest: 'd',
  caModifiedAt: 1,
  provenAt: now,
  advertised: [],
};
const proven: BootstrapState = { latch, consumed: [] };
const voided: BootstrapState = { void: { reason: 'r', since: now }, consumed: [] };

describe('prepare', () => {
  it('changes nothing on a machine without an earlier life', () => {
    expect(preparedState(noBootstrap, 'init', undefined, now)).toEqual(noBootstrap);
  });

  it('lets a former member that joins begin as a joiner', () => {
    expect(preparedState(proven, 'join', undefined, now)).toEqual(noBootstrap);
  });

  it('does not let a former member begin as init again unless it is said', () => {
    for (const before of [proven, voided]) {
      expect(preparedState(before, 'init', undefined, now).void?.reason).toContain('without --role');
      expect(preparedState(before, 'init', 'init', now)).toEqual({ role: 'init', consumed: [] });
      expect(preparedState(before, 'init', 'join', now)).toEqual({ role: 'join', consumed: [] });
    }
  });

  it('keeps what was said of the role until it is said anew', () => {
    const joining = preparedState(proven, 'init', 'join', now);
    expect(preparedState(joining, 'init', undefined, now)).toEqual({ role: 'join', consumed: [] });
    expect(preparedState({ ...joining, latch }, 'init', undefined, now)).toEqual({
      role: 'join',
      consumed: [],
    });
  });
});
