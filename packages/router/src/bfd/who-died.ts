import { BfdDiagnostic, describeBfdDiagnostic } from '@bgp-lb/protocol';
import type { BfdStateChange } from '@bgp-lb/protocol/node';

/** What died when a BFD session left Up. */
export interface Verdict {
  /** `host`: act on it. `process` and `nothing`: whoever forwards packets there lives on, as far as BFD can tell. */
  readonly died: 'host' | 'process' | 'nothing';
  /** Why, in words. */
  readonly because: string;
}

/** What is known of the neighbour besides BFD, read after everything that waited in our sockets. */
export interface NeighborFacts {
  /** Its BGP session is there: its TCP was not closed. */
  readonly isEstablished: boolean;
  /** When that session came up, by `threadClock`; `undefined` where this is not known. */
  readonly establishedAt?: number | undefined;
  /** BFD has heard it again since it failed: this process was busy for so long. */
  readonly isHeardAgain?: boolean;
}

/**
 * Who died? A kernel closes the TCP of a process that dies within milliseconds, long before BFD expires; a host that
 * dies closes nothing. So BFD is believed only about a neighbour whose TCP is there and silent. RFC 5882 section 4.2
 * lets a routing protocol act on failures alone.
 *
 * A process that was killed and is back within the Detection Time has its new BGP session before BFD gives up the old
 * process: a silence that began before the session is not about it. (Should the host die just then, the hold timer
 * finds it.)
 */
export function whoDied(
  change: BfdStateChange,
  { isEstablished, establishedAt, isHeardAgain = false }: NeighborFacts,
): Verdict {
  if (!change.isFailure) {
    return { died: 'nothing', because: 'no failure' };
  }
  if (!isEstablished) {
    return { died: 'process', because: 'its TCP was closed before, so its kernel lives' };
  }
  if (isHeardAgain) {
    return { died: 'nothing', because: 'it was heard again before this could be acted upon' };
  }
  if (change.reason === 'peer-down') {
    const { remoteDiagnostic } = change;
    if (remoteDiagnostic === BfdDiagnostic.None) {
      return { died: 'process', because: 'its BFD began anew, so its kernel lives' };
    }
    if (remoteDiagnostic === BfdDiagnostic.AdministrativelyDown) {
      return { died: 'nothing', because: 'its operator took BFD down' };
    }
    return { died: 'host', because: `it says: ${describeBfdDiagnostic(remoteDiagnostic)}` };
  }
  const { lastReceivedAt = Number.NEGATIVE_INFINITY } = change;
  if (establishedAt !== undefined && lastReceivedAt < establishedAt) {
    return { died: 'process', because: 'its silence began before its BGP session, so it was started again' };
  }
  return { died: 'host', because: 'TCP is silent too' };
}

/** What happened to a BFD session, in words for one line of a log. */
export function describeBfdChange(change: BfdStateChange): string {
  const { at, lastReceivedAt, detectionTime, timerDelay, remoteDiagnostic } = change;
  switch (change.reason) {
    case 'detection-expired': {
      const silence = lastReceivedAt === undefined ? '' : ` for ${Math.round(at - lastReceivedAt)} ms`;
      const limit = detectionTime === undefined ? '' : ` (Detection Time ${Math.round(detectionTime)} ms)`;
      // A few ms are how timers are; more is worth knowing when somebody asks who was deaf.
      const late = timerDelay < 10 ? '' : `, our own timer ${Math.round(timerDelay)} ms late`;
      return `no packet${silence}${limit}${late}`;
    }
    case 'peer-down':
      return `the neighbour says Down (${describeBfdDiagnostic(remoteDiagnostic)})`;
    case 'peer-admin-down':
      return 'taken down by the operator of the neighbour';
    case 'admin-down':
      return 'taken down here';
    case 'admin-up':
      return 'begins anew';
    case 'peer-heard':
      return 'the neighbour is heard';
    case 'peer-agrees':
      return 'the neighbour hears us';
  }
}
