import { describe, expect, it } from 'vitest';
import { config, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const idle = { name: 'Idle' } as const;

describe('Idle (RFC 4271 section 8.2.2)', () => {
  it.each([
    ['ManualStart', 'Connect; counter zero; start ConnectRetry 120; connect'],
    ['AutomaticStart', 'Connect; start ConnectRetry 120; connect'],
    ['AutomaticStart_with_DampPeerOscillations', 'Connect; start ConnectRetry 120; connect'],
  ] as const)('connects on %s', (event, expected) => {
    expect(stepText(step(idle, sampleEvents[event], config))).toBe(expected);
  });

  it.each([
    ['ManualStart_with_PassiveTcpEstablishment', 'Active; counter zero'],
    ['AutomaticStart_with_PassiveTcpEstablishment', 'Active'],
    ['AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment', 'Active'],
  ] as const)('waits for the peer, without a timer for attempts of its own, on %s', (event, expected) => {
    expect(stepText(step(idle, sampleEvents[event], config))).toBe(expected);
  });

  it('waits for the peer on ManualStart of a passive neighbor', () => {
    expect(stepText(step(idle, sampleEvents.ManualStart, { ...config, passive: true }))).toBe(
      'Active; counter zero',
    );
  });

  it.each(Object.values(sampleEvents).filter(({ type }) => !type.includes('Start')))(
    'does nothing on $type',
    (event) => {
      expect(step(idle, event, config)).toMatchObject({ state: idle, actions: [] });
    },
  );
});
