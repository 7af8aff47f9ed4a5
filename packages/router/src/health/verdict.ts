import type { ProbeResult } from '@bgp-lb/daemon';
import type { Verdict } from '../pool/member-view.ts';

/**
 * What a probe through a member says about it. 401 and 403 pass: readiness is the speaker's word, what is proven
 * here is the way to an API server and back.
 */
export function verdictOf({ kind }: Pick<ProbeResult, 'kind'>): Verdict {
  switch (kind) {
    case 'ok':
    case 'unauthorized':
      return 'good';
    case 'refused':
    case 'unreachable':
      return kind;
    case 'status':
      return 'answered';
    case 'timeout':
    case 'tls':
    case 'error':
      return 'soft';
  }
}
