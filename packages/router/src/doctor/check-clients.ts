import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import type { VipStatus } from '../api/router-status.ts';
import { clientHints } from '../evidence/client-hints.ts';
import { isDoubtful } from '../evidence/client-judge.ts';

/** What clients' own packets say: a health check only proves packets that this host makes. Pure. */
export function checkClients(
  vips: readonly Pick<VipStatus, 'vip' | 'clients' | 'members'>[],
): readonly Finding[] {
  return vips.flatMap(({ vip, clients, members }) => [
    ...(clients === null ? [] : [checkVip(vip, clients)]),
    ...members.flatMap(({ name, gates }) =>
      gates
        .filter((gate) => gate.name === 'clients' && !gate.pass)
        .map(({ detail }) => warning('clients', `${vip} by ${name}`, detail, clientHints.member)),
    ),
  ]);
}

function checkVip(vip: string, { cause, text }: NonNullable<VipStatus['clients']>): Finding {
  return isDoubtful(cause) ? fault('clients', vip, text, clientHints[cause]) : good('clients', vip, text);
}
