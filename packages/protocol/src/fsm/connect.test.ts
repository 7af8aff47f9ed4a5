import { describe, expect, it } from 'vitest';
import { config, ourOpen, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const connecting = { name: 'Connect', delayingOpen: false } as const;
const delaying = { name: 'Connect', delayingOpen: true } as const;

describe('Connect (RFC 4271 section 8.2.2)', () => {
  it.each([
    ['sends OPEN when TCP is established', 'Tcp_CR_Acked', 'OpenSent; send OPEN; start Hold 90'],
    [
      'gives up an attempt that takes too long and makes the next',
      'ConnectRetryTimer_Expires',
      'Connect; close; start ConnectRetry 120; connect',
    ],
    [
      'waits before the next attempt when one fails',
      'TcpConnectionFails',
      'Active; close; start ConnectRetry 5',
    ],
    ['stops without a word on ManualStop', 'ManualStop', 'Idle; close; counter zero'],
    [
      'ends the attempt when the other connection is used',
      'OpenCollisionDump',
      'Idle; close; counter increment',
    ],
    ['stops on AutomaticStop', 'AutomaticStop', 'Idle; close; counter increment; damp'],
    ['goes to Idle on a message that cannot be', 'KeepAliveMsg', 'Idle; close; counter increment; damp'],
    ['stays on a start event', 'AutomaticStart', 'Connect'],
    ['leaves a second connection to the listener', 'TcpConnection_Valid', 'Connect'],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(connecting, sampleEvents[event], config))).toBe(expected);
  });

  it('does not connect again after a failure when the neighbor is passive', () => {
    expect(stepText(step(connecting, sampleEvents.TcpConnectionFails, { ...config, passive: true }))).toBe(
      'Active; close',
    );
  });
});

describe('the wait for the OPEN of a peer whose kernel took ours', () => {
  it.each([
    [90, 90],
    [3, 10],
    [9, 10],
    [3600, 240],
    [0, 240],
  ])('with a hold time of %i s ends after %i s', (holdTime, seconds) => {
    const { actions } = step(connecting, sampleEvents.Tcp_CR_Acked, {
      ...config,
      localOpen: ourOpen({ holdTime }),
    });
    expect(actions).toContainEqual({ type: 'startTimer', timer: 'Hold', seconds });
  });
});

describe('Connect with DelayOpen', () => {
  const delayed = { ...config, delayOpenTime: 5 };

  it('sends no OPEN when TCP is established, and starts the DelayOpenTimer', () => {
    const { state, actions } = step(connecting, sampleEvents.Tcp_CR_Acked, delayed);
    expect(state).toEqual(delaying);
    expect(actions).toContainEqual({ type: 'startTimer', timer: 'DelayOpen', seconds: 5 });
    expect(actions).toContainEqual({ type: 'stopTimer', timer: 'ConnectRetry' });
  });

  it.each([
    ['sends OPEN when the timer expires', 'DelayOpenTimer_Expires', 'OpenSent; send OPEN; start Hold 90'],
    [
      'answers the OPEN of the peer by OPEN and KEEPALIVE at once',
      'BGPOpen',
      'OpenConfirm; send OPEN; send KEEPALIVE; start Keepalive 30; start Hold 90; start SendHold 480',
    ],
    [
      'goes back to Active without a penalty when TCP ends',
      'TcpConnectionFails',
      'Active; close; start ConnectRetry 5',
    ],
    ['does not count a version error', 'NotifMsgVerErr', 'Idle; close; damp'],
    ['sends no NOTIFICATION before its OPEN', 'BGPOpenMsgErr', 'Idle; close; counter increment; damp'],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(delaying, sampleEvents[event], delayed))).toBe(expected);
  });
});
