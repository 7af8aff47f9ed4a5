import type { ClientCause } from './client-judge.ts';

/** Where to look, by what becomes of clients; `member` for one that they get no answer from. */
export const clientHints: Readonly<Record<ClientCause | 'member', string>> = {
  served: '',
  'too-few': '',
  'dropped-here':
    'on this host: nft list ruleset (forward), iptables-legacy -S FORWARD, ip rule, rp_filter of that interface',
  unanswered:
    'on the masters: bgp-lb-speaker doctor; their way back to clients, rp_filter, firewalls; or SYNs of a scan, which nobody answers',
  'too-many': 'a flood of SYNs: whoever is before this host has to limit it',
  silent: 'if clients have no service, they are sent elsewhere: the route of the upstream for the VIP',
  member:
    'on that master: bgp-lb-speaker doctor; rp_filter of each uplink, rules by source, firewalls and the way back to clients',
};
