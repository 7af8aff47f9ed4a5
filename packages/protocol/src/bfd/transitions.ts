/** What several events of a session have in common: sending, changing state, taking intervals into use. */
import type { BfdControlPacket, BfdState } from './control-packet.ts';
import type { BfdAction, BfdReason } from './event.ts';
import {
  type BfdInterval,
  type BfdSession,
  leastJitterFactor,
  sendsPeriodically,
  slowInterval,
} from './session.ts';

/** The packet that a session sends now (RFC 5880 section 6.8.7). */
export function controlPacket(
  session: BfdSession,
  { poll, final }: { poll: boolean; final: boolean },
): BfdControlPacket {
  return {
    diagnostic: session.diagnostic,
    state: session.state,
    poll,
    final,
    // BFD runs in a thread of the daemon: both end together (RFC 5882 section 4.3.2).
    controlPlaneIndependent: false,
    authenticationPresent: false,
    // Demand mode is never asked for: continuous detection is the purpose.
    demand: false,
    detectMult: session.settings.detectMult,
    myDiscriminator: session.localDiscriminator,
    yourDiscriminator: session.remote.discriminator,
    desiredMinTx: session.tx.advertised,
    requiredMinRx: session.rx.advertised,
    requiredMinEchoRx: 0,
  };
}

/**
 * Sends a packet that counts as a periodic one: the time to the next begins with it, shortened by 0 to 25 %, or by 10
 * to 25 % with a multiplier of 1 (RFC 5880 section 6.8.7).
 */
export function sendPeriodic(
  session: BfdSession,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  const poll = session.poll === 'wanted' || session.poll === 'sent';
  actions.push({ type: 'send', packet: controlPacket(session, { poll, final: false }) });
  const most = session.settings.detectMult === 1 ? 0.9 : 1;
  const factor = most - (most - leastJitterFactor) * random;
  return { ...session, poll: poll ? 'sent' : session.poll, sent: { at: now, factor } };
}

/**
 * Changes the state and tells the peer at once, with the intervals of the new state; the time to the next packet begins
 * again. Otherwise a session that comes Up would wait for the slow timer, and the peer would not.
 */
export function moveTo(
  session: BfdSession,
  state: BfdState,
  reason: BfdReason,
  diagnostic: number,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  const moved = useIntervals({ ...session, state, since: now, diagnostic });
  const next = sendPeriodic(moved, now, random, actions);
  actions.push({ type: 'state-changed', from: session.state, to: state, reason });
  return next;
}

/**
 * Takes changed settings into use, unless a Poll Sequence of an Up session is under way: its Final would not say which
 * change it confirms (RFC 5880 section 6.8.3). `receive` calls again when it is over.
 */
export function takeSettings(session: BfdSession): BfdSession {
  const isBusy = session.poll === 'sent' || session.poll === 'settling';
  return isBusy && session.state === 'Up' ? session : useIntervals(session);
}

/** Without periodic packets nothing would tell the peer of a change: one is sent for it (RFC 5880 section 6.8.7). */
export function announce(session: BfdSession, now: number, random: number, actions: BfdAction[]): BfdSession {
  return sendsPeriodically(session) ? session : sendPeriodic(session, now, random, actions);
}

/** The peer has confirmed what we advertise. */
export function confirmIntervals(session: BfdSession): BfdSession {
  const { tx, rx } = session;
  return { ...session, poll: 'settling', tx: confirmed(tx), rx: confirmed(rx) };
}

function confirmed({ advertised }: BfdInterval): BfdInterval {
  return { advertised, used: advertised };
}

/** Advertises the intervals that settings and state ask for. A difference begins a Poll Sequence (RFC 5880 section 6.8.3). */
function useIntervals(session: BfdSession): BfdSession {
  const { state, settings, tx, rx } = session;
  const isUp = state === 'Up';
  const wantedTx = isUp ? settings.desiredMinTx : Math.max(slowInterval, settings.desiredMinTx);
  const wantedRx = settings.requiredMinRx;
  if (wantedTx === tx.advertised && wantedRx === rx.advertised) {
    return isUp ? session : { ...session, tx: confirmed(tx), rx: confirmed(rx) };
  }
  return {
    ...session,
    poll: 'wanted',
    // In Up, sending more slowly and expecting packets sooner both wait until the peer has confirmed it.
    tx: { advertised: wantedTx, used: isUp ? Math.min(tx.used, wantedTx) : wantedTx },
    rx: { advertised: wantedRx, used: isUp ? Math.max(rx.used, wantedRx) : wantedRx },
  };
}
