import { BfdDiagnostic } from './control-packet.ts';
import type { BfdReason } from './event.ts';

/** What a change of a BFD session says to the BGP session with the same peer. */
export type BfdFailureClass =
  /** The peer's host, or the way to it, is dead: to be acted upon. */
  | 'failure'
  /** RFC 5882 section 4.2: it was not Up, or an operator took it down. */
  | 'no-failure'
  /** There is no BGP session: the end of its TCP connection tells what became of the peer. */
  | 'no-session'
  /** The peer's BFD began again, as that of a restarted process does: its kernel lives. */
  | 'restarted'
  /** The silence began before the BGP session did: it is about an earlier process of the peer. */
  | 'earlier-process';

/** The part of a change of a BFD session that matters here. Times are monotonic milliseconds. */
export interface BfdChange {
  /** From Up by silence or by the peer's Down. */
  readonly isFailure: boolean;
  readonly reason: BfdReason;
  /** Of the peer's last packet, `BfdDiagnostic`. */
  readonly remoteDiagnostic: number;
  /** When its last packet was read. */
  readonly lastReceivedAt: number | undefined;
}

/**
 * Whether a change of a BFD session is a failure that BGP is to act upon (RFC 5882 section 4.2). Pure.
 *
 * A kernel closes the TCP of a process that dies within milliseconds, long before BFD expires; a host that dies closes nothing. So BFD
 * is believed only about a peer whose TCP is there. A process that was killed and is back within the Detection Time has its new BGP
 * session before BFD gives up the old process: a silence that began before the session is not about it.
 * @param establishedAt when the BGP session came up, by the clock of the change; `undefined` while there is none
 */
export function classifyBfdFailure(change: BfdChange, establishedAt: number | undefined): BfdFailureClass {
  const { isFailure, reason, remoteDiagnostic, lastReceivedAt = Number.NEGATIVE_INFINITY } = change;
  if (!isFailure) return 'no-failure';
  if (establishedAt === undefined) return 'no-session';
  if (reason === 'peer-down') {
    // A peer that stops hearing us says so in its diagnostic; one that begins again has none (RFC 5880 section 6.8.1).
    if (remoteDiagnostic === BfdDiagnostic.None) return 'restarted';
    // Only the Down after its AdminDown arrived.
    return remoteDiagnostic === BfdDiagnostic.AdministrativelyDown ? 'no-failure' : 'failure';
  }
  return lastReceivedAt < establishedAt ? 'earlier-process' : 'failure';
}
