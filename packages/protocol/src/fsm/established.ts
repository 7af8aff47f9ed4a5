import { keepalive } from '../wire/keepalive.ts';
import type { Action } from './action.ts';
import type { FsmEvent, NotificationContent, TcpFailure } from './event.ts';
import type { EstablishedState, Handler, Step } from './state.ts';
import {
  connectionCollision,
  fsmError,
  holdTimerExpired,
  sendHoldTimerExpired,
  stay,
  toIdle,
} from './transitions.ts';

const sendKeepalive: Action = Object.freeze({ type: 'send', message: keepalive });

/** Established (RFC 4271 section 8.2.2): messages go both ways. */
export const established: Handler<EstablishedState> = (state, event) => {
  const { negotiated } = state;
  switch (event.type) {
    case 'UpdateMsg':
      return {
        state,
        actions: [...restartHold(state), { type: 'deliver', message: event.update }],
        reason: 'UPDATE received',
      };
    case 'KeepAliveMsg':
      return { state, actions: restartHold(state), reason: 'KEEPALIVE received' };
    case 'RouteRefreshMsg':
      // RFC 4271 section 6.5 names KEEPALIVE, UPDATE and NOTIFICATION: a ROUTE-REFRESH does not restart the hold timer.
      return {
        state,
        actions: [{ type: 'deliver', message: event.refresh }],
        reason: 'ROUTE-REFRESH received',
      };
    case 'KeepaliveTimer_Expires':
      if (negotiated.holdTime === 0) return stay(state, 'the hold time is zero');
      return {
        state,
        actions: [
          sendKeepalive,
          { type: 'startTimer', timer: 'Keepalive', seconds: negotiated.keepaliveTime },
        ],
        reason: 'KeepaliveTimer expired',
      };
    case 'HoldTimer_Expires':
      if (negotiated.holdTime === 0) return stay(state, 'the hold time is zero');
      return ended(holdTimerExpired, 'hold-timer-expired', 'HoldTimer expired');
    case 'SendHoldTimer_Expires':
      return ended(sendHoldTimerExpired, 'hold-timer-expired', 'the peer takes nothing');
    case 'Tcp_CR_Acked':
    case 'TcpConnectionConfirmed':
      return secondConnection(state);
    default:
      return ending(state, event);
  }
};

/** The events that end the session, and those that are ignored. */
function ending(state: EstablishedState, event: FsmEvent): Step {
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
      return stay(state, `${event.type} is the listener's affair`);
    case 'ManualStop':
      return toIdle(
        {
          notify: event.notification,
          counter: 'zero',
          down: { kind: 'stopped', ...event.notification },
        },
        'stopped',
      );
    case 'AutomaticStop':
    case 'UpdateMsgErr':
    case 'BGPHeaderErr':
    case 'RouteRefreshMsgErr':
      return ended(
        event.notification,
        'notification-sent',
        `error ${event.notification.code}/${event.notification.subcode}`,
      );
    case 'OpenCollisionDump':
      return toIdle(
        {
          notify: connectionCollision,
          counter: 'increment',
          down: { kind: 'collision', ...connectionCollision },
        },
        'lost the connection collision',
      );
    case 'NotifMsg':
    case 'NotifMsgVerErr':
      // RFC 4271 does not damp here; a peer that resets again and again oscillates all the same.
      return toIdle(
        {
          counter: 'increment',
          damp: true,
          down: { kind: 'notification-received', ...event.notification },
        },
        `NOTIFICATION ${event.notification.code}/${event.notification.subcode} received`,
      );
    case 'TcpConnectionFails':
      return toIdle(
        {
          counter: 'increment',
          damp: true,
          down: { kind: downKind[event.cause], detail: event.detail },
        },
        `TCP connection failed: ${event.detail}`,
      );
    default:
      return fsmError(3, event, true);
  }
}

const downKind = {
  closed: 'tcp-closed',
  reset: 'tcp-reset',
  refused: 'tcp-reset',
  timeout: 'tcp-timeout',
  failed: 'tcp-timeout',
} as const satisfies Record<TcpFailure, string>;

function ended(
  notification: NotificationContent,
  kind: 'notification-sent' | 'hold-timer-expired',
  reason: string,
): Step {
  return toIdle(
    { notify: notification, counter: 'increment', damp: true, down: { kind, ...notification } },
    reason,
  );
}

function restartHold({ negotiated }: EstablishedState): readonly Action[] {
  if (negotiated.holdTime === 0) return [];
  return [{ type: 'startTimer', timer: 'Hold', seconds: negotiated.holdTime }];
}

/**
 * RFC 4724 section 5: with graceful restart of at least one family, a new connection means that the peer has restarted; `PeerFsm` says
 * so when a valid OPEN has come by it. The old one is closed without a NOTIFICATION; otherwise the second connection is the peer's
 * affair (collision).
 */
function secondConnection(state: EstablishedState): Step {
  if ((state.negotiated.gracefulRestart?.families.length ?? 0) === 0) {
    return stay(state, 'a second connection does not replace an established session');
  }
  return toIdle(
    {
      counter: 'zero',
      down: { kind: 'tcp-closed', detail: 'the peer restarted and opened a new connection' },
    },
    'the peer restarted',
  );
}
