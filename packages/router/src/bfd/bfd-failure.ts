import { classifyBfdFailure, describeBfdDiagnostic } from '@bgp-lb/protocol';
import type { BfdStateChange } from '@bgp-lb/protocol/node';

/** What died when a BFD session left Up. */
export interface BfdFailure {
  /** `host`: act on it. `process` and `nothing`: what forwards packets there lives on, as far as BFD can tell. */
  readonly died: 'host' | 'process' | 'nothing';
  /** Why, in words. */
  readonly because: string;
}

/** What is known of the neighbor besides BFD, read after everything that waited in our sockets. */
export interface NeighborFacts {
  /** Its BGP session is there: its TCP was not closed. */
  readonly isEstablished: boolean;
  /** When that session came up, by `threadClock`; `undefined` where this is not known. */
  readonly establishedAt?: number | undefined;
  /** BFD has heard it again since it failed: this process was busy for so long. */
  readonly isHeardAgain?: boolean;
}

/** What died, by what BFD says (`classifyBfdFailure`) and whether it was heard again since. */
export function explainBfdFailure(
  change: BfdStateChange,
  { isEstablished, establishedAt = Number.NEGATIVE_INFINITY, isHeardAgain = false }: NeighborFacts,
): BfdFailure {
  const found = classifyBfdFailure(change, isEstablished ? establishedAt : undefined);
  if (isHeardAgain && found !== 'no-failure' && found !== 'no-session') {
    return { died: 'nothing', because: 'it was heard again before this could be acted upon' };
  }
  switch (found) {
    case 'no-failure':
      return { died: 'nothing', because: change.isFailure ? 'its operator took BFD down' : 'no failure' };
    case 'no-session':
      return { died: 'process', because: 'its TCP was closed before, so its kernel lives' };
    case 'restarted':
      return { died: 'process', because: 'its BFD began anew, so its kernel lives' };
    case 'earlier-process':
      return {
        died: 'process',
        because: 'its silence began before its BGP session, so it was started again',
      };
    case 'failure': {
      const says = `it says: ${describeBfdDiagnostic(change.remoteDiagnostic)}`;
      return { died: 'host', because: change.reason === 'peer-down' ? says : 'TCP is silent too' };
    }
  }
}

/** What happened to a BFD session, in words for one line of a log. */
export function describeBfdChange(change: BfdStateChange): string {
  const { at, lastReceivedAt, detectionTime, timerDelay, remoteDiagnostic } = change;
  switch (change.reason) {
    case 'detection-expired': {
      const silence = lastReceivedAt === undefined ? '' : ` for ${Math.round(at - lastReceivedAt)} ms`;
      const limit = detectionTime === undefined ? '' : ` (Detection Time ${Math.round(detectionTime)} ms)`;
      // A few ms are how timers are; more is worth knowing when it is asked which side did not hear the other.
      const late = timerDelay < 10 ? '' : `, our own timer ${Math.round(timerDelay)} ms late`;
      return `no packet${silence}${limit}${late}`;
    }
    case 'peer-down':
      return `the neighbor says Down (${describeBfdDiagnostic(remoteDiagnostic)})`;
    case 'peer-admin-down':
      return 'taken down by the operator of the neighbor';
    case 'admin-down':
      return 'taken down here';
    case 'admin-up':
      return 'begins anew';
    case 'peer-heard':
      return 'the neighbor is heard';
    case 'peer-agrees':
      return 'the neighbor hears us';
  }
}
