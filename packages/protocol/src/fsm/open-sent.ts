import type { Handler, OpenSentState } from './state.ts';
import {
  connectionCollision,
  fsmError,
  holdTimerExpired,
  stay,
  toActive,
  toIdle,
  toOpenConfirm,
} from './transitions.ts';

/** OpenSent (RFC 4271 section 8.2.2): our OPEN is out, the peer's is awaited. */
export const openSent: Handler<OpenSentState> = (state, event, config) => {
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
      return toIdle(
        { notify: holdTimerExpired, counter: 'increment', damp: true },
        'no OPEN from the peer in time',
      );
    case 'TcpConnectionFails':
      return toActive(
        config,
        [{ type: 'close' }, { type: 'stopTimer', timer: 'Hold' }],
        `TCP connection failed: ${event.detail}`,
      );
    case 'BGPOpen':
      return toOpenConfirm(event.negotiated, config, [
        { type: 'stopTimer', timer: 'DelayOpen' },
        { type: 'stopTimer', timer: 'ConnectRetry' },
      ]);
    case 'BGPHeaderErr':
    case 'BGPOpenMsgErr':
      return toIdle(
        { notify: event.notification, counter: 'increment', damp: true },
        `error ${event.notification.code}/${event.notification.subcode} in a message of the peer`,
      );
    case 'OpenCollisionDump':
      return toIdle({ notify: connectionCollision, counter: 'increment' }, 'lost the connection collision');
    case 'NotifMsgVerErr':
      // The ConnectRetryCounter stays as it is here, unlike for any other NOTIFICATION.
      return toIdle({ damp: true }, 'the peer does not speak our version');
    case 'NotifMsg':
      // RFC 4271 section 8.2.2 lists event 25 under "any other event", but a NOTIFICATION is never answered by
      // one (section 6.4).
      return toIdle(
        { counter: 'increment', damp: true },
        `NOTIFICATION ${event.notification.code}/${event.notification.subcode} received`,
      );
    default:
      return fsmError(1, event, false);
  }
};
