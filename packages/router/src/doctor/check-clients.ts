import { type Finding, fault, good } from '@bgp-lb/daemon';
import type { VipStatus } from '../api/router-status.ts';
import { clientHints } from '../evidence/client-hints.ts';
import { isDoubtful } from '../evidence/client-judge.ts';

/** What clients' own packets say: a health check only proves packets that this host makes. Pure. */
export function checkClients(vips: readonly Pick<VipStatus, 'vip' | 'clients'>[]): readonly Finding[] {
  return vips.flatMap(({ vip, clients }) =>
    clients === null ? [] : [checkVip(vip, clients), ...doubtedMembers(vip, clients)],
  );
}

type Evidence = NonNullable<VipStatus['clients']>;

function checkVip(vip: string, { cause, text }: Evidence): Finding {
  return isDoubtful(cause) ? fault('clients', vip, text, clientHints[cause]) : good('clients', vip, text);
}

/** A fault although it has weight 1: a part of the clients still goes to it, and all of them where `pool.clientEvidence` is off. */
function doubtedMembers(vip: string, { members }: Evidence): readonly Finding[] {
  return members.flatMap(({ nextHop, doubt }) =>
    doubt === null ? [] : [fault('clients', `${vip} by ${nextHop}`, doubt, clientHints.member)],
  );
}
