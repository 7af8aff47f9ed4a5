import type { KeepaliveMessage, OpenMessage, ReceivedUpdate, RouteRefreshMessage } from '../wire/message.ts';
import type { Negotiated } from './negotiate.ts';

/** Timers of one connection. SendHold is the one of RFC 9687; the others are those of RFC 4271 section 8. */
export type ConnectionTimer = 'ConnectRetry' | 'Hold' | 'Keepalive' | 'DelayOpen' | 'SendHold';

export const connectionTimers: readonly ConnectionTimer[] = Object.freeze([
  'ConnectRetry',
  'Hold',
  'Keepalive',
  'DelayOpen',
  'SendHold',
]);

/** Why an established session ended. */
export type DownKind =
  | 'notification-sent'
  | 'notification-received'
  | 'hold-timer-expired'
  /** FIN without a NOTIFICATION: the process at the other end is gone, its kernel is not. */
  | 'tcp-closed'
  /** RST: as `tcp-closed`. */
  | 'tcp-reset'
  /** Nothing answers any more: the host itself may be dead. */
  | 'tcp-timeout'
  | 'stopped'
  | 'collision'
  | 'fsm-error';

/** The end of an established session, as the FSM knows it. */
export interface SessionEnd {
  readonly kind: DownKind;
  /** Of the NOTIFICATION sent or received, where there was one. */
  readonly code?: number;
  readonly subcode?: number;
  readonly data?: Uint8Array;
  /** What is not in the code: the socket's error, for example. */
  readonly detail?: string;
}

/** What the driver must do, in the order of the list. The FSM itself does nothing. */
export type Action =
  /** Open a TCP connection to the peer; answer with Tcp_CR_Acked or TcpConnectionFails. */
  | { readonly type: 'connect' }
  /** Close the TCP connection, or give up the attempt. What was sent before must still leave. */
  | { readonly type: 'close' }
  | { readonly type: 'send'; readonly message: OpenMessage | KeepaliveMessage }
  /** Send a NOTIFICATION. `close` always follows. */
  | {
      readonly type: 'notify';
      readonly code: number;
      readonly subcode: number;
      readonly data: Uint8Array;
    }
  /** Start or restart a timer. Jitter (RFC 4271 section 10) is the driver's. */
  | { readonly type: 'startTimer'; readonly timer: ConnectionTimer; readonly seconds: number }
  | { readonly type: 'stopTimer'; readonly timer: ConnectionTimer }
  /** ConnectRetryCounter (RFC 4271 section 8.1.1). */
  | { readonly type: 'connectRetryCounter'; readonly change: 'zero' | 'increment' }
  /** This end counts as an oscillation (RFC 4271 section 8.1.1, DampPeerOscillations). */
  | { readonly type: 'damp' }
  /** The session is up; `deliver` and `down` come only after this. */
  | { readonly type: 'established'; readonly negotiated: Negotiated }
  /** Give the message to the RIB. */
  | { readonly type: 'deliver'; readonly message: ReceivedUpdate | RouteRefreshMessage }
  /** The established session is over. */
  | { readonly type: 'down'; readonly end: SessionEnd };
