import { age, type Table } from '@bgp-lb/daemon';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';

/** Who has the VIPs by VRRP, for people; nothing where this host has no part in it. */
export function vrrpTables(vrrp: VrrpStatus | null): Table[] {
  if (vrrp === null) return [];
  const { interface: name, vrid, state, sinceMs, why, owner, priority, unfit, peers, problem } = vrrp;
  return [
    {
      columns: ['VRRP', 'VRID', 'STATE', 'FOR', 'BECAUSE', 'OWNER', 'PRIORITY', 'UNFIT', 'PROBLEM'],
      rows: [[name, vrid, state, age(sinceMs), why, owner ?? 'none', priority, unfit ?? '', problem]],
    },
    {
      columns: ['VRRP PEER', 'FIT', 'HEARD'],
      rows: peers.map(({ address, isFit, heardMs }) => [
        address,
        isFit,
        heardMs === null ? 'never' : `${age(heardMs)} ago`,
      ]),
    },
  ];
}
