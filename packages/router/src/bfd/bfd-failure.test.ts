import type { BfdStateChange } from '@bgp-lb/protocol/node';
import { describe, expect, it } from 'vitest';
import { describeBfdChange, explainBfdFailure } from './bfd-failure.ts';

/** The silence of a neighbor at 50 ms x 3. */
const silence: BfdStateChange = {
  id: '10.0.0.11',
  from: 'Up',
  to: 'Down',
  reason: 'detection-expired',
  isFailure: true,
  diagnostic: 1,
  remoteDiagnostic: 0,
  at: 10_151,
  lastReceivedAt: 10_000,
  detectionTime: 150,
  timerDelay: 0.4,
  areOthersSilent: false,
};
const peerDown: BfdStateChange = { ...silence, reason: 'peer-down', diagnostic: 3, remoteDiagnostic: 1 };
const here = { isEstablished: true };
const gone = { isEstablished: false };

describe('who died', () => {
  it('the host, when BFD expired and TCP is silent', () => {
    expect(explainBfdFailure(silence, here).died).toBe('host');
  });

  it('only the process, when its TCP was closed before BFD expired', () => {
    expect(explainBfdFailure(silence, gone).died).toBe('process');
    expect(explainBfdFailure(peerDown, gone).died).toBe('process');
  });

  it('only the process, when its silence began before the BGP session that it has now', () => {
    expect(explainBfdFailure(silence, { ...here, establishedAt: 10_100 }).died).toBe('process');
    expect(
      explainBfdFailure({ ...silence, lastReceivedAt: undefined }, { ...here, establishedAt: 10_100 }).died,
    ).toBe('process');
    expect(explainBfdFailure(silence, { ...here, establishedAt: 9_900 }).died).toBe('host');
  });

  it.each([1, 4, 5])(
    'the way to the host, when it does not hear us or knows of a fault (diagnostic %i)',
    (code) => {
      expect(explainBfdFailure({ ...peerDown, remoteDiagnostic: code }, here).died).toBe('host');
    },
  );

  it('only the process, when its BFD begins anew within the Detection Time', () => {
    expect(explainBfdFailure({ ...peerDown, remoteDiagnostic: 0 }, here).died).toBe('process');
  });

  it('nothing, when its operator took BFD down and only the Down after it arrived', () => {
    expect(explainBfdFailure({ ...peerDown, remoteDiagnostic: 7 }, here).died).toBe('nothing');
  });

  it.each([
    { reason: 'peer-admin-down' },
    { reason: 'admin-down', to: 'AdminDown' },
    { reason: 'detection-expired', from: 'Init' },
    { reason: 'peer-agrees', from: 'Init', to: 'Up' },
  ] as const)('nothing, when it is no failure: %j', (change) => {
    expect(explainBfdFailure({ ...silence, ...change, isFailure: false }, here).died).toBe('nothing');
  });
});

describe('a change of BFD in words', () => {
  it.each([
    [{}, 'no packet for 151 ms (Detection Time 150 ms)'],
    [{ timerDelay: 900 }, 'no packet for 151 ms (Detection Time 150 ms), our own timer 900 ms late'],
    [{ lastReceivedAt: undefined, detectionTime: undefined }, 'no packet'],
    [{ reason: 'peer-down', remoteDiagnostic: 1 }, 'the neighbor says Down (Control Detection Time Expired)'],
    [{ reason: 'peer-admin-down' }, 'taken down by the operator of the neighbor'],
    [{ reason: 'peer-heard' }, 'the neighbor is heard'],
  ] as const)('%j', (changed, text) => {
    expect(describeBfdChange({ ...silence, ...changed })).toBe(text);
  });
});
