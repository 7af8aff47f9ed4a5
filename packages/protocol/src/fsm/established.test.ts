import { describe, expect, it } from 'vitest';
import { config, negotiated, negotiatedRestart, negotiatedWith, sampleEvents } from './kit/samples.ts';
import { stepText } from './kit/summary.ts';
import { step } from './step.ts';

const established = { name: 'Established', negotiated } as const;
const withoutHold = { name: 'Established', negotiated: negotiatedWith({ holdTime: 0 }) } as const;
const restartable = { name: 'Established', negotiated: negotiatedRestart } as const;

describe('Established (RFC 4271 section 8.2.2)', () => {
  it.each([
    [
      'delivers UPDATE and restarts the hold timer',
      'UpdateMsg',
      'Established; start Hold 90; deliver UPDATE',
    ],
    ['restarts the hold timer on KEEPALIVE', 'KeepAliveMsg', 'Established; start Hold 90'],
    [
      'delivers ROUTE-REFRESH and leaves the hold timer alone',
      'RouteRefreshMsg',
      'Established; deliver ROUTE-REFRESH',
    ],
    ['sends KEEPALIVEs', 'KeepaliveTimer_Expires', 'Established; send KEEPALIVE; start Keepalive 30'],
    [
      'sends 4/0 after silence',
      'HoldTimer_Expires',
      'Idle; notify 4/0; close; counter increment; damp; down hold-timer-expired',
    ],
    [
      'sends 8/0 when the peer takes nothing (RFC 9687)',
      'SendHoldTimer_Expires',
      'Idle; notify 8/0; close; counter increment; damp; down hold-timer-expired',
    ],
    ['sends Cease on ManualStop', 'ManualStop', 'Idle; notify 6/2; close; counter zero; down stopped'],
    [
      'sends Cease on AutomaticStop, the prefix limit for one',
      'AutomaticStop',
      'Idle; notify 6/1; close; counter increment; damp; down notification-sent',
    ],
    [
      'answers a bad UPDATE',
      'UpdateMsgErr',
      'Idle; notify 3/1; close; counter increment; damp; down notification-sent',
    ],
    [
      'answers a bad header',
      'BGPHeaderErr',
      'Idle; notify 1/2; close; counter increment; damp; down notification-sent',
    ],
    [
      'answers a bad ROUTE-REFRESH (RFC 7313 section 5)',
      'RouteRefreshMsgErr',
      'Idle; notify 7/1; close; counter increment; damp; down notification-sent',
    ],
    [
      'does not answer a NOTIFICATION',
      'NotifMsg',
      'Idle; close; counter increment; damp; down notification-received',
    ],
    ['ends when TCP ends', 'TcpConnectionFails', 'Idle; close; counter increment; damp; down tcp-closed'],
    ['keeps the session when the peer connects once more', 'TcpConnectionConfirmed', 'Established'],
    ['stays on a start event', 'ManualStart', 'Established'],
    [
      'can lose a collision',
      'OpenCollisionDump',
      'Idle; notify 6/7; close; counter increment; down collision',
    ],
    [
      'has no ConnectRetryTimer',
      'ConnectRetryTimer_Expires',
      'Idle; notify 5/0; close; counter increment; damp; down fsm-error',
    ],
  ] as const)('%s', (_title, event, expected) => {
    expect(stepText(step(established, sampleEvents[event], config))).toBe(expected);
  });

  it.each(['BGPOpen', 'BGPOpenMsgErr'] as const)('answers %s by 5/3 (RFC 6608 section 4)', (event) => {
    expect(step(established, sampleEvents[event], config).actions[0]).toEqual({
      type: 'notify',
      code: 5,
      subcode: 3,
      data: Uint8Array.of(1),
    });
  });

  it.each([
    ['closed', 'tcp-closed'],
    ['reset', 'tcp-reset'],
    ['timeout', 'tcp-timeout'],
    ['failed', 'tcp-timeout'],
  ] as const)('says how TCP ended: %s is %s', (cause, kind) => {
    const { actions } = step(established, { type: 'TcpConnectionFails', cause, detail: 'why' }, config);
    expect(actions.at(-1)).toEqual({ type: 'down', end: { kind, detail: 'why' } });
  });

  it('knows neither hold nor keepalive when the hold time is zero', () => {
    expect(stepText(step(withoutHold, sampleEvents.HoldTimer_Expires, config))).toBe('Established');
    expect(stepText(step(withoutHold, sampleEvents.KeepaliveTimer_Expires, config))).toBe('Established');
    expect(stepText(step(withoutHold, sampleEvents.UpdateMsg, config))).toBe('Established; deliver UPDATE');
  });

  it('gives way, without a NOTIFICATION, to a new connection of a peer with graceful restart (RFC 4724 section 5)', () => {
    expect(stepText(step(restartable, sampleEvents.TcpConnectionConfirmed, config))).toBe(
      'Idle; close; counter zero; down tcp-closed',
    );
  });
});
