import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';

/** What a running router says of VRRP, as findings. Pure. */
export function checkVrrp(vrrp: VrrpStatus | null): readonly Finding[] {
  if (vrrp === null) return [];
  const { interface: name, state, why, unfit, peers, problem } = vrrp;
  const check = 'vrrp state';
  const explain = 'bgp-lb-router explain';
  const text = `${state}: ${why}`;
  const isWell = state === 'master' || state === 'backup';
  return [
    isWell ? good(check, name, text) : fault(check, name, text, explain),
    ...(problem === '' ? [] : [fault('keepalived', name, problem, 'what it names, on this host')]),
    ...(unfit === null
      ? []
      : [fault('vrrp fitness', 'this load balancer', unfit, 'what it names, on this host')]),
    ...peers.map(({ address, isFit }) =>
      isFit
        ? good('vrrp peer', address, 'says that it can serve')
        : warning(
            'vrrp peer',
            address,
            'does not say that it can serve',
            'bgp-lb-router status there; a firewall between that drops IP protocol 112',
          ),
    ),
  ];
}
