import { describe, expect, it } from 'vitest';
import { config, negotiatedWith, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const openSent = { name: 'OpenSent' } as const;

describe('OpenSent (RFC 4271 section 8.2.2)', () => {
  it.each([
    [
      'answers a valid OPEN by KEEPALIVE and takes the negotiated hold time',
      'BGPOpen',
      'OpenConfirm; send KEEPALIVE; start Keepalive 30; start Hold 90; start SendHold 480',
    ],
    ['sends 4/0 when no OPEN comes', 'HoldTimer_Expires', 'Idle; notify 4/0; close; counter increment; damp'],
    ['answers a bad header', 'BGPHeaderErr', 'Idle; notify 1/2; close; counter increment; damp'],
    ['answers a bad OPEN', 'BGPOpenMsgErr', 'Idle; notify 2/2; close; counter increment; damp'],
    ['goes back to Active when TCP ends', 'TcpConnectionFails', 'Active; close; start ConnectRetry 5'],
    ['sends Cease on ManualStop', 'ManualStop', 'Idle; notify 6/2; close; counter zero'],
    ['sends Cease on AutomaticStop', 'AutomaticStop', 'Idle; notify 6/1; close; counter increment; damp'],
    [
      'sends Cease when it loses a collision, without damping',
      'OpenCollisionDump',
      'Idle; notify 6/7; close; counter increment',
    ],
    ['does not answer a NOTIFICATION', 'NotifMsg', 'Idle; close; counter increment; damp'],
    ['does not count a version error', 'NotifMsgVerErr', 'Idle; close; damp'],
    ['stays on a start event', 'ManualStart', 'OpenSent'],
    ['leaves a second connection to the peer FSM', 'TcpConnectionConfirmed', 'OpenSent'],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(openSent, sampleEvents[event], config))).toBe(expected);
  });

  it.each([
    ['UpdateMsg', 2],
    ['UpdateMsgErr', 2],
    ['KeepAliveMsg', 4],
    ['RouteRefreshMsg', 5],
  ] as const)('answers %s by 5/1 with the message type (RFC 6608 section 4)', (event, type) => {
    expect(step(openSent, sampleEvents[event], config).actions[0]).toEqual({
      type: 'notify',
      code: 5,
      subcode: 1,
      data: Uint8Array.of(type),
    });
  });

  it('answers a timer that cannot run by 5/0', () => {
    expect(stepText(step(openSent, sampleEvents.KeepaliveTimer_Expires, config))).toBe(
      'Idle; notify 5/0; close; counter increment; damp',
    );
  });

  it('starts neither hold nor keepalive timer when the hold time is zero, but sends the KEEPALIVE', () => {
    const event = { type: 'BGPOpen', negotiated: negotiatedWith({}, { holdTime: 0 }) } as const;
    const { actions } = step(openSent, event, config);
    expect(actions.filter(({ type }) => type === 'startTimer')).toEqual([]);
    expect(actions).toContainEqual({ type: 'stopTimer', timer: 'Hold' });
    expect(actions).toContainEqual({ type: 'send', message: { type: 'KEEPALIVE' } });
  });

  it('gives a send hold timer of twice a very long hold time (RFC 9687)', () => {
    const event = {
      type: 'BGPOpen',
      negotiated: negotiatedWith({ holdTime: 600 }, { holdTime: 600 }),
    } as const;
    expect(step(openSent, event, config).actions).toContainEqual({
      type: 'startTimer',
      timer: 'SendHold',
      seconds: 1200,
    });
  });
});
