import type { ProbeResult } from '@bgp-lb/daemon';

/**
 * What the API server of this master is good for.
 * - `unknown`: not enough probes yet
 * - `ready`: /readyz was green `rise` times
 * - `soft`: it answers, but not with 200 in time
 * - `unauthorized`: it answers 401 or 403
 * - `stopping`: it said itself that it is shutting down, and none has been started in its place yet
 * - `hard`: nothing listens, or a server with a certificate of another CA
 */
export type ReadinessLevel = 'unknown' | 'ready' | 'soft' | 'unauthorized' | 'stopping' | 'hard';

type ReadinessVerdict = 'good' | 'soft' | 'unauthorized' | 'stopping' | 'hard';

export interface Readiness {
  readonly level: ReadinessLevel;
  /** Consecutive good probes, bad probes, and hard failures at the end of the history. */
  readonly good: number;
  readonly bad: number;
  readonly hard: number;
  /** The last probe found the port closed. */
  readonly isPortClosed: boolean;
  /** One sentence: what the last probe saw. */
  readonly detail: string;
}

/** How many equal results in a row change the level, and what counts as good. */
export interface Thresholds {
  readonly rise: number;
  readonly fall: number;
  /** Of an API server that answers 401 or 403: `accept` takes it for ready. */
  readonly unauthenticated: 'reject' | 'accept';
}

export const unknownReadiness: Readiness = {
  level: 'unknown',
  good: 0,
  bad: 0,
  hard: 0,
  isPortClosed: false,
  detail: 'the API server has not been probed yet',
};

/** Whether two say the same of the API server; how often in a row it has been seen does not matter. */
export function isSameReadiness(a: Readiness, b: Readiness): boolean {
  return a.level === b.level && a.isPortClosed === b.isPortClosed && a.detail === b.detail;
}

/**
 * The readiness after one more probe. Good counts against `rise`; any failure counts against `fall`; a hard failure needs
 * `fall` hard ones in a row. "[-]shutdown failed" needs none: the API server's port closes half a second later by default.
 */
export function afterProbe(before: Readiness, result: ProbeResult, thresholds: Thresholds): Readiness {
  const verdict = verdictOf(result, thresholds.unauthenticated);
  const counts = {
    good: verdict === 'good' ? before.good + 1 : 0,
    bad: verdict === 'good' ? 0 : before.bad + 1,
    hard: verdict === 'hard' ? before.hard + 1 : 0,
  };
  const isPortClosed = result.kind === 'refused';
  return {
    ...counts,
    level: levelAfter(before, verdict, isPortClosed, counts, thresholds),
    isPortClosed,
    detail: describe(verdict, result),
  };
}

function levelAfter(
  { level, isPortClosed: wasPortClosed }: Readiness,
  verdict: ReadinessVerdict,
  isPortClosed: boolean,
  counts: { good: number; bad: number; hard: number },
  thresholds: Thresholds,
): ReadinessLevel {
  if (verdict === 'stopping') return 'stopping';
  if (verdict === 'good') return counts.good >= thresholds.rise ? 'ready' : level;
  if (verdict === 'hard') {
    // It has closed its port as it said, and answers what is under way. The drain that this began sees to its end.
    if (level === 'stopping' && isPortClosed) return level;
    if (counts.hard >= thresholds.fall) return 'hard';
    return counts.bad >= thresholds.fall && level === 'ready' ? 'soft' : level;
  }
  // An API server that began to stop does not come back but by a new start: it is ready again, or its port was closed.
  if (level === 'stopping') return wasPortClosed ? verdict : level;
  return counts.bad >= thresholds.fall ? verdict : level;
}

function verdictOf(result: ProbeResult, unauthenticated: Thresholds['unauthenticated']): ReadinessVerdict {
  switch (result.kind) {
    case 'ok':
      return 'good';
    case 'status':
      return result.failing?.includes('shutdown') === true ? 'stopping' : 'soft';
    case 'unauthorized':
      return unauthenticated === 'accept' ? 'good' : 'unauthorized';
    case 'timeout':
      return 'soft';
    case 'shortage':
      // No server was asked. A master that lives must not lose its connections to that; the router's own probes see one that is dead.
      return 'soft';
    default:
      // Answered by TLS with a certificate of this cluster, and then cut, endless or no HTTP: it is there, and not well. Otherwise
      // refused, another CA, no way to our own address, or cut within the handshake: it does not answer.
      return result.isVerified ? 'soft' : 'hard';
  }
}

function describe(verdict: ReadinessVerdict, result: ProbeResult): string {
  switch (verdict) {
    case 'good':
      return [goodText(result), ...result.warnings].join('; ');
    case 'stopping':
      return 'the API server is shutting down ([-]shutdown failed)';
    case 'unauthorized':
      return (
        `the API server answers ${result.status ?? '401 or 403'} to /readyz: when this lasts, anonymous access is off, and a client ` +
        'certificate, or "unauthenticated: accept", is needed'
      );
    case 'soft':
      if (result.kind === 'shortage') return `the API server cannot be asked: ${result.detail}`;
      return `the API server answers but is not ready: ${result.detail}`;
    default:
      return `the API server does not answer: ${result.detail}`;
  }
}

function goodText({ kind, status }: ProbeResult): string {
  if (kind === 'ok') return 'the API server is ready';
  return `the API server answers ${status} to /readyz, which "unauthenticated: accept" takes for ready`;
}
