import { describe, expect, it } from 'vitest';
import { config, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const active = { name: 'Active', delayingOpen: false } as const;
const delaying = { name: 'Active', delayingOpen: true } as const;

describe('Active (RFC 4271 section 8.2.2)', () => {
  it.each([
    [
      'sends OPEN when the peer has connected',
      'TcpConnectionConfirmed',
      'OpenSent; send OPEN; start Hold 90',
    ],
    [
      'makes the next attempt when the ConnectRetryTimer expires',
      'ConnectRetryTimer_Expires',
      'Connect; start ConnectRetry 120; connect',
    ],
    ['counts a TCP failure', 'TcpConnectionFails', 'Idle; close; counter increment; damp'],
    ['stops without a word on ManualStop', 'ManualStop', 'Idle; close; counter zero'],
    ['ends when the other connection is used', 'OpenCollisionDump', 'Idle; close; counter increment'],
    [
      'counts a NOTIFICATION of version error without a connection',
      'NotifMsgVerErr',
      'Idle; close; counter increment; damp',
    ],
    ['ignores a DelayOpenTimer that does not run', 'DelayOpenTimer_Expires', 'Active'],
    ['stays on a start event', 'ManualStart', 'Active'],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(active, sampleEvents[event], config))).toBe(expected);
  });

  it('never connects when passive', () => {
    const passive = { ...config, passive: true };
    expect(stepText(step(active, sampleEvents.ConnectRetryTimer_Expires, passive))).toBe('Active');
  });

  it('takes the OPEN of the peer while its own is delayed', () => {
    expect(stepText(step(delaying, sampleEvents.BGPOpen, { ...config, delayOpenTime: 5 }))).toBe(
      'OpenConfirm; send OPEN; send KEEPALIVE; start Keepalive 30; start Hold 90; start SendHold 480',
    );
  });

  it('has no penalty for a peer that closes TCP while OPEN is delayed', () => {
    expect(stepText(step(delaying, sampleEvents.TcpConnectionFails, { ...config, delayOpenTime: 5 }))).toBe(
      'Active; close; start ConnectRetry 5',
    );
  });
});
