import type { FsmEvent } from './event.ts';
import type { ActiveState, ConnectionConfig, ConnectState, Step } from './state.ts';
import { sendOpen, stay, tcpSucceeded, toIdle, toOpenConfirm } from './transitions.ts';

/**
 * What Connect and Active have in common (RFC 4271 section 8.2.2): all but the answers to
 * ConnectRetryTimer_Expires and TcpConnectionFails, which their own files give.
 */
export function acquiring(
  state: ConnectState | ActiveState,
  event: Exclude<FsmEvent, { type: 'ConnectRetryTimer_Expires' | 'TcpConnectionFails' }>,
  config: ConnectionConfig,
): Step {
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
      return toIdle({ counter: 'zero' }, 'stopped');
    case 'AutomaticStop':
      return toIdle({ counter: 'increment', damp: true }, 'stopped by the system');
    case 'Tcp_CR_Acked':
    case 'TcpConnectionConfirmed':
      return state.delayingOpen ? stay(state, 'TCP was established before') : tcpSucceeded(state, config);
    case 'DelayOpenTimer_Expires':
      return state.delayingOpen
        ? sendOpen(config, 'DelayOpenTimer expired')
        : stay(state, 'no DelayOpenTimer runs');
    case 'BGPOpen':
      return state.delayingOpen
        ? openWhileDelaying(event.negotiated, config)
        : toIdle({ counter: 'increment', damp: true }, 'OPEN without a connection');
    case 'BGPHeaderErr':
    case 'BGPOpenMsgErr':
      // SendNOTIFICATIONwithoutOPEN is off: the peer has seen no OPEN of ours.
      return toIdle({ counter: 'increment', damp: true }, describe(event.notification));
    case 'NotifMsgVerErr':
      return state.delayingOpen
        ? toIdle({ damp: true }, 'the peer does not speak our version')
        : toIdle({ counter: 'increment', damp: true }, 'NOTIFICATION without a connection');
    case 'OpenCollisionDump':
      // No damping: a collision says nothing against the peer.
      return toIdle({ counter: 'increment' }, 'the other connection is used');
    default:
      return toIdle({ counter: 'increment', damp: true }, `unexpected ${event.type}`);
  }
}

/** Event 20: the peer's OPEN came while ours was delayed; ours and the KEEPALIVE go out at once. */
function openWhileDelaying(negotiated: Parameters<typeof toOpenConfirm>[0], config: ConnectionConfig): Step {
  return toOpenConfirm(negotiated, config, [
    { type: 'stopTimer', timer: 'ConnectRetry' },
    { type: 'stopTimer', timer: 'DelayOpen' },
    { type: 'send', message: config.localOpen },
  ]);
}

function describe({ code, subcode }: { code: number; subcode: number }): string {
  return `error ${code}/${subcode} before OPEN was sent`;
}
