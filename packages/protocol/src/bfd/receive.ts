/** Reception of a BFD Control packet by the session it belongs to (RFC 5880 section 6.8.6). */
import { type BfdControlPacket, BfdDiagnostic, type BfdState } from './control-packet.ts';
import type { BfdAction, BfdReason } from './event.ts';
import type { BfdSession } from './session.ts';
import { announce, confirmIntervals, controlPacket, moveTo, takeSettings } from './transitions.ts';

interface Transition {
  readonly to: BfdState;
  readonly reason: BfdReason;
  readonly diagnostic: number;
}

/** The order of RFC 5880 section 6.8.6, after the authentication checks (`admitBfdPacket`). */
export function receive(
  session: BfdSession,
  packet: BfdControlPacket,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  const heard = advancePoll(remember(session, packet, now), packet.final);
  // Nothing of the peer moves a session that is administratively down, not even a Poll is answered.
  if (heard.state === 'AdminDown') return heard;
  const transition = transitionFor(heard, packet.state);
  const answered =
    transition === undefined
      ? announced(session, heard, now, random, actions)
      : moveTo(heard, transition.to, transition.reason, transition.diagnostic, now, random, actions);
  if (packet.poll) {
    // The Final leaves outside the periodic packets and does not put them off: two systems that poll each other
    // would otherwise never come to send their own Poll.
    actions.push({ type: 'send', packet: controlPacket(answered, { poll: false, final: true }) });
  }
  return answered;
}

function remember(session: BfdSession, packet: BfdControlPacket, now: number): BfdSession {
  return {
    ...session,
    receivedAt: now,
    remote: {
      discriminator: packet.myDiscriminator,
      state: packet.state,
      diagnostic: packet.diagnostic,
      demand: packet.demand,
      desiredMinTx: packet.desiredMinTx,
      requiredMinRx: packet.requiredMinRx,
      detectMult: packet.detectMult,
    },
  };
}

function advancePoll(session: BfdSession, final: boolean): BfdSession {
  if (session.poll === 'sent' && final) return confirmIntervals(session);
  if (session.poll === 'settling' && !final) return takeSettings({ ...session, poll: 'none' });
  return session;
}

/** Settings that waited for the end of a Poll Sequence have been taken into use, and the peer wants no periodic packets. */
function announced(
  before: BfdSession,
  heard: BfdSession,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  const isNew = before.poll === 'settling' && heard.poll === 'wanted';
  return isNew ? announce(heard, now, random, actions) : heard;
}

/** The state machine of RFC 5880 section 6.2. */
function transitionFor({ state, diagnostic }: BfdSession, remote: BfdState): Transition | undefined {
  const { None, NeighborSignaledSessionDown } = BfdDiagnostic;
  if (remote === 'AdminDown') {
    if (state === 'Down') return undefined;
    return { to: 'Down', reason: 'peer-admin-down', diagnostic: NeighborSignaledSessionDown };
  }
  const up: Transition = { to: 'Up', reason: 'peer-agrees', diagnostic: None };
  switch (state) {
    case 'Down':
      if (remote === 'Down') return { to: 'Init', reason: 'peer-heard', diagnostic };
      return remote === 'Init' ? up : undefined;
    case 'Init':
      return remote === 'Down' ? undefined : up;
    default:
      if (remote !== 'Down') return undefined;
      return { to: 'Down', reason: 'peer-down', diagnostic: NeighborSignaledSessionDown };
  }
}
