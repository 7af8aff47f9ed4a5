import { type Asn, asn } from '../../types/asn.ts';
import { ipv4Unicast } from '../../types/family.ts';
import { parseRouterId } from '../../types/router-id.ts';
import type { OpenMessage } from '../../wire/message.ts';
import { receivedUpdate } from '../../wire/update.ts';
import type { FsmEvent, NotificationContent } from '../event.ts';
import { type LocalOffer, localOpen } from '../local-open.ts';
import { type Negotiated, negotiate } from '../negotiate.ts';
import type { ConnectionConfig, State } from '../state.ts';

/** What tests and the table of docs/fsm.md run the FSM with. */

export const localAsn: Asn = asn(65001);
export const remoteAsn: Asn = asn(65002);

/** An OPEN of AS 65002 with identifier 10.0.0.2, but for what is given. */
export function remoteOpen(offer: Partial<LocalOffer> = {}): OpenMessage {
  return openOf({ asn: remoteAsn, routerId: parseRouterId('10.0.0.2'), ...offer });
}

/** Our OPEN: AS 65001 with identifier 10.0.0.1, but for what is given. */
export function ourOpen(offer: Partial<LocalOffer> = {}): OpenMessage {
  return openOf({ asn: localAsn, routerId: parseRouterId('10.0.0.1'), ...offer });
}

function openOf(offer: Pick<LocalOffer, 'asn' | 'routerId'> & Partial<LocalOffer>): OpenMessage {
  return localOpen({
    holdTime: 90,
    families: [ipv4Unicast],
    addPathSend: [],
    addPathReceive: [],
    extendedMessage: false,
    enhancedRouteRefresh: false,
    gracefulRestart: undefined,
    ...offer,
  });
}

/** What both agree on, but for what is given. */
export function negotiatedWith(ours: Partial<LocalOffer> = {}, theirs: Partial<LocalOffer> = {}): Negotiated {
  return negotiate(ourOpen(ours), remoteOpen(theirs), { localAsn, remoteAsn: [remoteAsn] });
}

export const negotiated: Negotiated = negotiatedWith();

const restart = { restarting: false, restartTime: 120, families: [ipv4Unicast] };

/** With graceful restart of IPv4 unicast on both sides. */
export const negotiatedRestart: Negotiated = negotiatedWith(
  { gracefulRestart: restart },
  { gracefulRestart: restart },
);

export const config: ConnectionConfig = {
  localOpen: ourOpen(),
  passive: false,
  connectRetryTime: 120,
  retryDelay: 5,
  delayOpenTime: undefined,
  sendHoldTime: 480,
};

/** Every state, those with the DelayOpenTimer and with graceful restart on their own. */
export const sampleStates: readonly { readonly title: string; readonly state: State }[] = [
  { title: 'Idle', state: { name: 'Idle' } },
  { title: 'Connect', state: { name: 'Connect', delayingOpen: false } },
  { title: 'Connect, OPEN delayed', state: { name: 'Connect', delayingOpen: true } },
  { title: 'Active', state: { name: 'Active', delayingOpen: false } },
  { title: 'Active, OPEN delayed', state: { name: 'Active', delayingOpen: true } },
  { title: 'OpenSent', state: { name: 'OpenSent' } },
  { title: 'OpenConfirm', state: { name: 'OpenConfirm', negotiated } },
  { title: 'Established', state: { name: 'Established', negotiated } },
  { title: 'Established, graceful restart', state: { name: 'Established', negotiated: negotiatedRestart } },
];

function notification(code: number, subcode: number): NotificationContent {
  return { code, subcode, data: new Uint8Array(0) };
}

/** One event of each type, in the order of their numbers. */
export const sampleEvents: { readonly [T in FsmEvent['type']]: Extract<FsmEvent, { type: T }> } = {
  ManualStart: { type: 'ManualStart' },
  ManualStop: { type: 'ManualStop', notification: notification(6, 2) },
  AutomaticStart: { type: 'AutomaticStart' },
  ManualStart_with_PassiveTcpEstablishment: { type: 'ManualStart_with_PassiveTcpEstablishment' },
  AutomaticStart_with_PassiveTcpEstablishment: { type: 'AutomaticStart_with_PassiveTcpEstablishment' },
  AutomaticStart_with_DampPeerOscillations: { type: 'AutomaticStart_with_DampPeerOscillations' },
  AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment: {
    type: 'AutomaticStart_with_DampPeerOscillations_and_PassiveTcpEstablishment',
  },
  AutomaticStop: { type: 'AutomaticStop', notification: notification(6, 1) },
  ConnectRetryTimer_Expires: { type: 'ConnectRetryTimer_Expires' },
  HoldTimer_Expires: { type: 'HoldTimer_Expires' },
  KeepaliveTimer_Expires: { type: 'KeepaliveTimer_Expires' },
  DelayOpenTimer_Expires: { type: 'DelayOpenTimer_Expires' },
  IdleHoldTimer_Expires: { type: 'IdleHoldTimer_Expires' },
  TcpConnection_Valid: { type: 'TcpConnection_Valid' },
  Tcp_CR_Invalid: { type: 'Tcp_CR_Invalid' },
  Tcp_CR_Acked: { type: 'Tcp_CR_Acked' },
  TcpConnectionConfirmed: { type: 'TcpConnectionConfirmed' },
  TcpConnectionFails: { type: 'TcpConnectionFails', cause: 'closed', detail: 'closed by the peer' },
  BGPOpen: { type: 'BGPOpen', negotiated },
  BGPHeaderErr: { type: 'BGPHeaderErr', notification: notification(1, 2) },
  BGPOpenMsgErr: { type: 'BGPOpenMsgErr', notification: notification(2, 2) },
  OpenCollisionDump: { type: 'OpenCollisionDump' },
  NotifMsgVerErr: { type: 'NotifMsgVerErr', notification: notification(2, 1) },
  NotifMsg: { type: 'NotifMsg', notification: notification(6, 4) },
  KeepAliveMsg: { type: 'KeepAliveMsg' },
  UpdateMsg: {
    type: 'UpdateMsg',
    update: receivedUpdate({
      type: 'UPDATE',
      withdrawn: [],
      attributes: undefined,
      nlri: [],
      mpReach: undefined,
      mpUnreach: undefined,
      faults: [],
      treatAsWithdraw: false,
    }),
  },
  UpdateMsgErr: { type: 'UpdateMsgErr', notification: notification(3, 1) },
  SendHoldTimer_Expires: { type: 'SendHoldTimer_Expires' },
  RouteRefreshMsg: {
    type: 'RouteRefreshMsg',
    refresh: { type: 'ROUTE-REFRESH', afi: 1, safi: 1, subtype: 0 },
  },
  RouteRefreshMsgErr: { type: 'RouteRefreshMsgErr', notification: notification(7, 1) },
};
