/** The daemons with dynamic neighbors: any peer that connects from a range of addresses, and sends nothing. */
import type { OtherName } from '../bgp/daemon.ts';

/** The daemon and its range. */
export interface SessionsPlan {
  readonly local: string;
  readonly asn: number;
  /** As `10.8.0.0/16`. */
  readonly range: string;
  readonly sessions: number;
  /** In seconds. */
  readonly holdTime: number;
}

export const configs: Readonly<Record<OtherName, (plan: SessionsPlan) => string>> = {
  FRR: ({ local, asn, range, sessions, holdTime }) => `hostname bench
router bgp ${asn}
 bgp router-id ${local}
 neighbor range peer-group
 neighbor range remote-as ${asn}
 neighbor range timers ${holdTime / 3} ${holdTime}
 bgp listen limit ${sessions}
 bgp listen range ${range} peer-group range
`,
  BIRD: ({ local, asn, range, holdTime }) => `log stderr { warning, error, fatal, auth, bug };
router id ${local};
protocol device {}
protocol bgp peers {
  local ${local} as ${asn};
  neighbor range ${range} as ${asn};
  dynamic name "range";
  hold time ${holdTime};
  keepalive time ${holdTime / 3};
  ipv4 { import all; export none; };
}
`,
  GoBGP: ({ local, asn, range, holdTime }) => `[global.config]
as = ${asn}
router-id = "${local}"
[[peer-groups]]
[peer-groups.config]
peer-group-name = "range"
peer-as = ${asn}
[peer-groups.timers.config]
hold-time = ${holdTime}
keepalive-interval = ${holdTime / 3}
[[peer-groups.afi-safis]]
[peer-groups.afi-safis.config]
afi-safi-name = "ipv4-unicast"
[[dynamic-neighbors]]
[dynamic-neighbors.config]
prefix = "${range}"
peer-group = "range"
`,
  OpenBGPD: ({ local, asn, range, holdTime }) => `AS ${asn}
router-id ${local}
listen on ${local}
fib-update no
nexthop qualify via default
neighbor ${range} {
  remote-as ${asn}
  passive
  holdtime ${holdTime}
  announce IPv4 unicast
}
allow from any
deny to any
`,
};
