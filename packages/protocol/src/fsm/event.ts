import type { ReceivedUpdate, RouteRefreshMessage } from '../wire/message.ts';
import type { Negotiated } from './negotiate.ts';

/** How a TCP connection, or the attempt at one, ended. */
export type TcpFailure =
  /** FIN: the other side closed it. */
  | 'closed'
  /** RST: the other host answers, but has no such connection any more. */
  | 'reset'
  /** Nothing answers: ETIMEDOUT, EHOSTUNREACH, ENETUNREACH and their like. */
  | 'timeout'
  /** The attempt was refused: nothing listens. */
  | 'refused'
  /** Anything else, such as a socket option or a source address that cannot be had. */
  | 'failed';

/** A NOTIFICATION that is to be sent, or was received. */
export interface NotificationContent {
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;
}

/**
 * What can happen to one BGP connection. The names are those of RFC 4271 section 8.1, with their numbers;
 * the events without a number come from later RFCs, which are named.
 */
export type FsmEvent =
  /** Event 1. */
  | { readonly type: 'ManualStart' }
  /** Event 2. `notification` is what the peer is told, nothing for a graceful restart (RFC 4724 section 4.1). */
  | { readonly type: 'ManualStop'; readonly notification: NotificationContent | undefined }
  /** Event 3. */
  | { readonly type: 'AutomaticStart' }
  /** Event 4. */
  | { readonly type: 'ManualStart_with_PassiveTcpEstablishment' }
  /** Event 5. */
  | { readonly type: 'AutomaticStart_with_PassiveTcpEstablishment' }
  /** Event 6. */
  | { readonly type: 'AutomaticStart_with_DampPeerOscillations' }
  /** Event 7. */
  | { readonly type: 'AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment' }
  /** Event 8. The system itself ends the session, for example at the prefix limit (RFC 4486 section 4). */
  | { readonly type: 'AutomaticStop'; readonly notification: NotificationContent }
  /** Event 9. */
  | { readonly type: 'ConnectRetryTimer_Expires' }
  /** Event 10. */
  | { readonly type: 'HoldTimer_Expires' }
  /** Event 11. */
  | { readonly type: 'KeepaliveTimer_Expires' }
  /** Event 12. */
  | { readonly type: 'DelayOpenTimer_Expires' }
  /** Event 13. */
  | { readonly type: 'IdleHoldTimer_Expires' }
  /** Event 14. */
  | { readonly type: 'TcpConnection_Valid' }
  /** Event 15. */
  | { readonly type: 'Tcp_CR_Invalid' }
  /** Event 16: our SYN was answered. */
  | { readonly type: 'Tcp_CR_Acked' }
  /** Event 17: a connection that the peer opened was accepted. */
  | { readonly type: 'TcpConnectionConfirmed' }
  /** Event 18. */
  | { readonly type: 'TcpConnectionFails'; readonly cause: TcpFailure; readonly detail: string }
  /** Event 19, and event 20 in a state whose DelayOpenTimer runs: the OPEN has passed `negotiate`. */
  | { readonly type: 'BGPOpen'; readonly negotiated: Negotiated }
  /** Event 21. */
  | { readonly type: 'BGPHeaderErr'; readonly notification: NotificationContent }
  /** Event 22. */
  | { readonly type: 'BGPOpenMsgErr'; readonly notification: NotificationContent }
  /** Event 23: this connection lost against the other one to the same peer. */
  | { readonly type: 'OpenCollisionDump' }
  /** Event 24. */
  | { readonly type: 'NotifMsgVerErr'; readonly notification: NotificationContent }
  /** Event 25. */
  | { readonly type: 'NotifMsg'; readonly notification: NotificationContent }
  /** Event 26. */
  | { readonly type: 'KeepAliveMsg' }
  /** Event 27. */
  | { readonly type: 'UpdateMsg'; readonly update: ReceivedUpdate }
  /** Event 28. */
  | { readonly type: 'UpdateMsgErr'; readonly notification: NotificationContent }
  /** Event 29 (RFC 9687 section 3): the peer has not taken what we send for too long. */
  | { readonly type: 'SendHoldTimer_Expires' }
  /** A ROUTE-REFRESH (RFC 2918 section 4). */
  | { readonly type: 'RouteRefreshMsg'; readonly refresh: RouteRefreshMessage }
  /** A malformed ROUTE-REFRESH (RFC 7313 section 5). */
  | { readonly type: 'RouteRefreshMsgErr'; readonly notification: NotificationContent };
