import type { Reason } from '@bgp-lb/daemon';
import type { VrrpStatus } from '../vrrp/vrrp-status.ts';

/** Which load balancer has the VIPs, since when and why, and whether another could. Pure. */
export function vrrpReasons(vrrp: VrrpStatus | null): Reason[] {
  if (vrrp === null) return [];
  const { interface: name, state, sinceMs, why, owner, unfit, peers, problem } = vrrp;
  const isWell = state === 'master' || state === 'backup';
  const has = owner === null ? 'no load balancer is heard that has the VIPs' : `${owner} has the VIPs`;
  const lone = peers.every(({ isFit }) => !isFit);
  return [
    {
      what: `gate VRRP ${name}`,
      pass: isWell && owner !== null,
      sinceMs,
      reason: `${state}: ${why}; ${has}`,
      next: isWell && owner !== null ? '' : hints[state],
    },
    ...(problem === ''
      ? []
      : [
          {
            what: 'keepalived',
            pass: false,
            sinceMs: null,
            reason: problem,
            next: '`bgp-lb-router doctor` looks closer',
          },
        ]),
    ...(unfit === null
      ? []
      : [
          {
            what: 'fit to serve',
            pass: false,
            sinceMs: null,
            reason: unfit,
            next: 'what it names, on this host',
          },
        ]),
    {
      what: 'VRRP peers',
      pass: !lone,
      sinceMs: null,
      reason: lone
        ? 'no other load balancer says that it could serve'
        : `${peers
            .filter(({ isFit }) => isFit)
            .map(({ address }) => address)
            .join(', ')} could serve`,
      next: lone ? '`bgp-lb-router status` there; a firewall that drops IP protocol 112' : '',
    },
  ];
}

const hints: Readonly<Record<VrrpStatus['state'], string>> = {
  master: '',
  backup: 'it takes the VIPs by itself when no owner is heard',
  fault: 'what it names, on this host: the VIPs are elsewhere until then',
  stop: 'systemctl status bgp-lb-keepalived.service',
};
