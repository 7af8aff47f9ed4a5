import { describe, expect, it } from 'vitest';
import { config, negotiated, negotiatedWith, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const openConfirm = { name: 'OpenConfirm', negotiated } as const;
const withoutHold = { name: 'OpenConfirm', negotiated: negotiatedWith({ holdTime: 0 }) } as const;

describe('OpenConfirm (RFC 4271 section 8.2.2)', () => {
  it.each([
    ['is established by KEEPALIVE', 'KeepAliveMsg', 'Established; start Hold 90; established'],
    [
      'sends KEEPALIVEs meanwhile',
      'KeepaliveTimer_Expires',
      'OpenConfirm; send KEEPALIVE; start Keepalive 30',
    ],
    [
      'sends 4/0 when no KEEPALIVE comes',
      'HoldTimer_Expires',
      'Idle; notify 4/0; close; counter increment; damp',
    ],
    [
      'sends 8/0 when the peer takes nothing',
      'SendHoldTimer_Expires',
      'Idle; notify 8/0; close; counter increment; damp',
    ],
    ['ends when TCP ends', 'TcpConnectionFails', 'Idle; close; counter increment; damp'],
    ['does not answer a NOTIFICATION', 'NotifMsg', 'Idle; close; counter increment; damp'],
    ['does not count a version error', 'NotifMsgVerErr', 'Idle; close; damp'],
    ['sends Cease on ManualStop', 'ManualStop', 'Idle; notify 6/2; close; counter zero'],
    ['sends Cease on AutomaticStop', 'AutomaticStop', 'Idle; notify 6/1; close; counter increment; damp'],
    [
      'sends Cease when it loses a collision, without damping',
      'OpenCollisionDump',
      'Idle; notify 6/7; close; counter increment',
    ],
    ['answers a bad header', 'BGPHeaderErr', 'Idle; notify 1/2; close; counter increment; damp'],
    ['leaves a second connection to the peer FSM', 'Tcp_CR_Acked', 'OpenConfirm'],
    ['stays on a start event', 'AutomaticStart', 'OpenConfirm'],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(openConfirm, sampleEvents[event], config))).toBe(expected);
  });

  it.each([
    ['BGPOpen', 1],
    ['UpdateMsg', 2],
    ['RouteRefreshMsg', 5],
  ] as const)('answers %s by 5/2 with the message type (RFC 6608 section 4)', (event, type) => {
    expect(step(openConfirm, sampleEvents[event], config).actions[0]).toEqual({
      type: 'notify',
      code: 5,
      subcode: 2,
      data: Uint8Array.of(type),
    });
  });

  it('knows neither hold nor keepalive when the hold time is zero', () => {
    expect(stepText(step(withoutHold, sampleEvents.HoldTimer_Expires, config))).toBe('OpenConfirm');
    expect(stepText(step(withoutHold, sampleEvents.KeepaliveTimer_Expires, config))).toBe('OpenConfirm');
    expect(stepText(step(withoutHold, sampleEvents.KeepAliveMsg, config))).toBe('Established; established');
  });
});
