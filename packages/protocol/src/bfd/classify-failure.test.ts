import { describe, expect, it } from 'vitest';
import { type BfdChange, classifyBfdFailure } from './classify-failure.ts';
import { BfdDiagnostic } from './control-packet.ts';

const silence: BfdChange = {
  isFailure: true,
  reason: 'detection-expired',
  remoteDiagnostic: BfdDiagnostic.None,
  lastReceivedAt: 5_000,
};
const saysDown = (remoteDiagnostic: number): BfdChange => ({
  ...silence,
  reason: 'peer-down',
  remoteDiagnostic,
});

describe('a change of BFD', () => {
  it('is a failure when the peer was heard after the BGP session came up, and then no more', () => {
    expect(classifyBfdFailure(silence, 1_000)).toBe('failure');
    expect(classifyBfdFailure(silence, 5_000)).toBe('failure');
  });

  it.each([
    BfdDiagnostic.ControlDetectionTimeExpired,
    BfdDiagnostic.ForwardingPlaneReset,
    BfdDiagnostic.PathDown,
  ])('is a failure when the peer does not hear us or knows of a fault (diagnostic %i)', (diagnostic) => {
    expect(classifyBfdFailure(saysDown(diagnostic), 1_000)).toBe('failure');
  });

  it('is none when the session was not Up, or an operator took it down', () => {
    expect(classifyBfdFailure({ ...silence, isFailure: false }, 1_000)).toBe('no-failure');
    expect(classifyBfdFailure(saysDown(BfdDiagnostic.AdministrativelyDown), 1_000)).toBe('no-failure');
  });

  it('is for BGP to judge when the TCP connection has ended already', () => {
    expect(classifyBfdFailure(silence, undefined)).toBe('no-session');
    expect(classifyBfdFailure(saysDown(BfdDiagnostic.None), undefined)).toBe('no-session');
  });

  it('is a restart when the BFD of a new process is heard before that of the old one was given up', () => {
    expect(classifyBfdFailure(saysDown(BfdDiagnostic.None), 1_000)).toBe('restarted');
  });

  it('is about an earlier process when the silence is older than the BGP session', () => {
    expect(classifyBfdFailure(silence, 5_001)).toBe('earlier-process');
    expect(classifyBfdFailure({ ...silence, lastReceivedAt: undefined }, 1_000)).toBe('earlier-process');
  });
});
