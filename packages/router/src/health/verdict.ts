import type { ProbeResult } from '@bgp-lb/daemon';
import type { Verdict } from '../pool/member-view.ts';

/**
 * What a probe through a member says about it. 401 and 403 pass: readiness is the speaker's word, what is proven
 * here is the way to an API server and back. Undefined: nothing, since it was not asked. Whoever is short of descriptors would
 * else take every member for sick, and those whose session is gone for dead.
 */
export function verdictOf({ kind }: Pick<ProbeResult, 'kind'>): Verdict | undefined {
  switch (kind) {
    case 'ok':
    case 'unauthorized':
      return 'good';
    case 'refused':
    case 'unreachable':
      return kind;
    case 'status':
      return 'answered';
    case 'shortage':
      return undefined;
    case 'timeout':
    case 'tls':
    case 'error':
      return 'soft';
  }
}
