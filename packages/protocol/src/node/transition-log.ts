import type { PeerEvent } from './peer-event.ts';
import { agoAt, type PeerStatus, type TransitionStatus } from './peer-status.ts';

type Transition = Extract<PeerEvent, { type: 'transition' }>;

/** Transitions that are kept for the status. */
const TRANSITIONS_KEPT = 16;

/** Events that a NOTIFICATION, sent or received, belongs to. */
const notified: ReadonlySet<string> = new Set([
  'NotifMsg',
  'BGPHeaderErr',
  'BGPOpenMsgErr',
  'HoldTimer_Expires',
]);
/** Ends of an attempt that say nothing against the peer. */
const deliberate: ReadonlySet<string> = new Set(['ManualStop', 'AutomaticStop', 'OpenCollisionDump']);

/** Whether an attempt at a session ended that had not become one. */
function isFailedAttempt({ from, to, event }: Transition): boolean {
  if (from === 'Established' || from === 'Idle') return false;
  if (event === 'TcpConnectionFails') return true;
  return event === 'ConnectRetryTimer_Expires' ? from === 'Connect' : to === 'Idle' && !deliberate.has(event);
}

/** The last transitions of a peer's connections, and how its attempts at a session ended. */
export class TransitionLog {
  readonly #transitions: (Omit<TransitionStatus, 'agoMs'> & { readonly at: number })[] = [];
  #failedAttempts = 0;
  #lastFailure: { readonly text: string; readonly at: number } | undefined;

  note(transition: Transition, at: number): void {
    const { role, from, to, event, reason } = transition;
    this.#transitions.push({ role, from, to, reason, at });
    if (this.#transitions.length > TRANSITIONS_KEPT) this.#transitions.shift();
    if (to === 'Established') this.#failedAttempts = 0;
    if (!isFailedAttempt(transition)) return;
    this.#failedAttempts += 1;
    // A NOTIFICATION says more than the state machine does, and is kept by itself.
    if (!notified.has(event)) this.#lastFailure = { text: reason, at };
  }

  status(now: number): Pick<PeerStatus, 'transitions' | 'failedAttempts' | 'lastFailure'> {
    const ago = agoAt(now);
    return {
      transitions: this.#transitions.map(ago),
      failedAttempts: this.#failedAttempts,
      lastFailure: this.#lastFailure === undefined ? null : ago(this.#lastFailure),
    };
  }
}
