/** The BFD state machine in Asynchronous mode (RFC 5880 section 6.8.6), as a function. */
import { BfdDiagnostic, type BfdState } from './control-packet.ts';
import type { BfdAction, BfdEvent, BfdReason } from './event.ts';
import { receive } from './receive.ts';
import {
  type BfdSession,
  type BfdSettings,
  bfdDetectAt,
  bfdTransmitAt,
  bfdTransmitFrom,
  isRemoteDemandActive,
  unknownRemote,
} from './session.ts';
import { announce, moveTo, sendPeriodic, takeSettings } from './transitions.ts';

/** The next session, what is to be done, and when to come back (monotonic ms; `undefined`: only an event can change it). */
export interface BfdStep {
  readonly session: BfdSession;
  readonly actions: readonly BfdAction[];
  readonly transmitAt: number | undefined;
  readonly detectAt: number | undefined;
}

/**
 * One event of a session. Does nothing itself, never throws, and has an answer to every event in every state.
 * @param now monotonic ms, never less than before
 * @param random in [0, 1), new for each call: the jitter of RFC 5880 section 6.8.7
 */
export function bfdStep(session: BfdSession, event: BfdEvent, now: number, random: number): BfdStep {
  const actions: BfdAction[] = [];
  const next = react(session, event, now, random, actions);
  return { session: next, actions, transmitAt: bfdTransmitAt(next), detectAt: bfdDetectAt(next) };
}

/** True for a change that tells of a failed path; RFC 5882 section 4.2 has the others ignored by routing protocols. */
export function isBfdFailure(from: BfdState, reason: BfdReason): boolean {
  return from === 'Up' && (reason === 'detection-expired' || reason === 'peer-down');
}

function react(
  session: BfdSession,
  event: BfdEvent,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  switch (event.type) {
    case 'packet':
      return receive(session, event.packet, now, random, actions);
    case 'transmit-due':
      return isPast(bfdTransmitAt(session), now) ? sendPeriodic(session, now, random, actions) : session;
    case 'transmit-shared':
      return isPast(bfdTransmitFrom(session), now) ? sendPeriodic(session, now, random, actions) : session;
    case 'detection-due':
      return isPast(bfdDetectAt(session), now) ? forgetPeer(session, now, random, actions) : session;
    case 'admin-down': {
      if (session.state === 'AdminDown') return session;
      const { AdministrativelyDown } = BfdDiagnostic;
      return moveTo(session, 'AdminDown', 'admin-down', AdministrativelyDown, now, random, actions);
    }
    case 'admin-up':
      if (session.state !== 'AdminDown') return session;
      return moveTo(session, 'Down', 'admin-up', BfdDiagnostic.None, now, random, actions);
    case 'settings':
      return changeSettings(session, event.settings, now, random, actions);
  }
}

function isPast(deadline: number | undefined, now: number): boolean {
  return deadline !== undefined && now >= deadline;
}

/**
 * A Detection Time has passed without a packet: what is known of the peer is forgotten in every state (RFC 5880
 * sections 6.8.1 and 6.8.18), and Init and Up end (section 6.8.4).
 */
function forgetPeer(session: BfdSession, now: number, random: number, actions: BfdAction[]): BfdSession {
  const forgotten: BfdSession = { ...session, remote: unknownRemote, receivedAt: undefined };
  if (session.state !== 'Init' && session.state !== 'Up') return forgotten;
  const { ControlDetectionTimeExpired } = BfdDiagnostic;
  return moveTo(forgotten, 'Down', 'detection-expired', ControlDetectionTimeExpired, now, random, actions);
}

function changeSettings(
  session: BfdSession,
  settings: BfdSettings,
  now: number,
  random: number,
  actions: BfdAction[],
): BfdSession {
  const next = takeSettings({ ...session, settings });
  const isChanged =
    next.tx.advertised !== session.tx.advertised ||
    next.rx.advertised !== session.rx.advertised ||
    settings.detectMult !== session.settings.detectMult;
  if (!isChanged) return next;
  // RFC 5880 section 6.6: towards a peer in Demand mode every change of content needs a Poll Sequence.
  const polls = next.poll === 'none' && isRemoteDemandActive(next);
  return announce(polls ? { ...next, poll: 'wanted' } : next, now, random, actions);
}
