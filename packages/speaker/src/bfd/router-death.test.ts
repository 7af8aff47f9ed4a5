import { BfdDiagnostic } from '@bgp-lb/protocol';
import { describe, expect, it } from 'vitest';
import { judgeBfdChange } from './router-death.ts';

const silence = {
  isFailure: true,
  reason: 'detection-expired',
  remoteDiagnostic: BfdDiagnostic.None,
  lastReceivedAt: 5_000,
} as const;

describe('a router is dead', () => {
  it('when BFD heard it after the BGP session came up, and then no more', () => {
    expect(judgeBfdChange(silence, 1_000)).toBe('death');
  });

  it('when it says that it does not hear us', () => {
    const deaf = {
      ...silence,
      reason: 'peer-down',
      remoteDiagnostic: BfdDiagnostic.ControlDetectionTimeExpired,
    } as const;
    expect(judgeBfdChange(deaf, 1_000)).toBe('death');
  });
});

describe('a router is not dead', () => {
  it('when its operator took BFD down, or it was never Up', () => {
    const taken = { ...silence, isFailure: false, reason: 'peer-admin-down' } as const;
    expect(judgeBfdChange(taken, 1_000)).toBe('no-failure');
  });

  it('when it was restarted, and its new BFD is heard before the old one was given up', () => {
    expect(judgeBfdChange({ ...silence, reason: 'peer-down' }, 1_000)).toBe('restarted');
  });

  it('when it was restarted, and the silence of its old BFD is older than the BGP session', () => {
    expect(judgeBfdChange(silence, 5_001)).toBe('earlier-life');
    expect(judgeBfdChange({ ...silence, lastReceivedAt: undefined }, 1_000)).toBe('earlier-life');
  });

  it('when TCP has ended already: that is for BGP to judge', () => {
    expect(judgeBfdChange(silence, undefined)).toBe('no-session');
  });
});
