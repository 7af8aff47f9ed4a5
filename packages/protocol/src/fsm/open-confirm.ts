import type { Handler, OpenConfirmState } from './state.ts';
import {
  connectionCollision,
  fsmError,
  holdTimerExpired,
  sendHoldTimerExpired,
  stay,
  toIdle,
} from './transitions.ts';

/** OpenConfirm (RFC 4271 section 8.2.2): OPENs are exchanged, the peer's KEEPALIVE is awaited. */
export const openConfirm: Handler<OpenConfirmState> = (state, event) => {
  const { negotiated } = state;
  switch (event.type) {
    case 'ManualStart':
    case 'AutomaticStart':
    case 'ManualStart_with_PassiveTcpEstablishment':
    case 'AutomaticStart_with_PassiveTcpEstablishment':
    case 'AutomaticStart_with_DampPeerOscillations':
    case 'AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment':
      return stay(state, 'already started');
    case 'TcpConnection_Valid':
    case 'Tcp_CR_Invalid':
    case 'Tcp_CR_Acked':
    case 'TcpConnectionConfirmed':
      return stay(state, 'a second connection is tracked by the peer');
    case 'ManualStop':
      return toIdle({ notify: event.notification, counter: 'zero' }, 'stopped');
    case 'AutomaticStop':
      return toIdle(
        { notify: event.notification, counter: 'increment', damp: true },
        'stopped by the system',
      );
    case 'HoldTimer_Expires':
      if (negotiated.holdTime === 0) return stay(state, 'the hold time is zero');
      return toIdle(
        { notify: holdTimerExpired, counter: 'increment', damp: true },
        'no KEEPALIVE from the peer in time',
      );
    case 'KeepaliveTimer_Expires':
      if (negotiated.holdTime === 0) return stay(state, 'the hold time is zero');
      return {
        state,
        actions: [
          { type: 'send', message: { type: 'KEEPALIVE' } },
          { type: 'startTimer', timer: 'Keepalive', seconds: negotiated.keepaliveTime },
        ],
        reason: 'KeepaliveTimer expired',
      };
    case 'SendHoldTimer_Expires':
      return toIdle(
        { notify: sendHoldTimerExpired, counter: 'increment', damp: true },
        'the peer takes nothing',
      );
    case 'TcpConnectionFails':
      return toIdle({ counter: 'increment', damp: true }, `TCP connection failed: ${event.detail}`);
    case 'NotifMsg':
      return toIdle(
        { counter: 'increment', damp: true },
        `NOTIFICATION ${event.notification.code}/${event.notification.subcode} received`,
      );
    case 'NotifMsgVerErr':
      return toIdle({ damp: true }, 'the peer does not speak our version');
    case 'BGPHeaderErr':
    case 'BGPOpenMsgErr':
      return toIdle(
        { notify: event.notification, counter: 'increment', damp: true },
        `error ${event.notification.code}/${event.notification.subcode} in a message of the peer`,
      );
    case 'OpenCollisionDump':
      return toIdle({ notify: connectionCollision, counter: 'increment' }, 'lost the connection collision');
    case 'KeepAliveMsg':
      return {
        state: { name: 'Established', negotiated },
        actions: [
          ...(negotiated.holdTime === 0
            ? []
            : [{ type: 'startTimer', timer: 'Hold', seconds: negotiated.holdTime } as const]),
          { type: 'established', negotiated },
        ],
        reason: 'KEEPALIVE received',
      };
    default:
      // A second OPEN on the same connection is no collision but an unexpected message (RFC 6608 section 4).
      return fsmError(2, event, false);
  }
};
