/** The daemons as route reflectors (RFC 4456), each of them with its defaults otherwise. */
import type { OtherName } from '../bgp/daemon.ts';

/** The reflector and its clients. */
export interface ReflectPlan {
  readonly local: string;
  readonly asn: number;
  readonly clients: readonly string[];
  /** In seconds. */
  readonly holdTime: number;
}

export const configs: Readonly<Record<OtherName, (plan: ReflectPlan) => string>> = {
  FRR: ({ local, asn, clients, holdTime }) => `hostname bench
router bgp ${asn}
 bgp router-id ${local}
 no bgp default ipv4-unicast
 neighbor clients peer-group
 neighbor clients remote-as ${asn}
 neighbor clients passive
 neighbor clients timers ${holdTime / 3} ${holdTime}
${clients.map((client) => ` neighbor ${client} peer-group clients\n`).join('')} address-family ipv4 unicast
  neighbor clients activate
  neighbor clients route-reflector-client
`,
  BIRD: ({ local, asn, clients, holdTime }) => `log stderr { warning, error, fatal, auth, bug };
router id ${local};
protocol device {}
protocol direct { ipv4; interface "v0"; }
template bgp one {
  local ${local} as ${asn};
  rr client;
  passive on;
  hold time ${holdTime};
  keepalive time ${holdTime / 3};
  ipv4 { import all; export where source = RTS_BGP; };
}
${clients.map((client, n) => `protocol bgp c${n} from one { neighbor ${client} as ${asn}; }\n`).join('')}`,
  GoBGP: ({ local, asn, clients, holdTime }) => `[global.config]
as = ${asn}
router-id = "${local}"
${clients
  .map(
    (client) => `[[neighbors]]
[neighbors.config]
neighbor-address = "${client}"
peer-as = ${asn}
[neighbors.timers.config]
hold-time = ${holdTime}
keepalive-interval = ${holdTime / 3}
[neighbors.transport.config]
passive-mode = true
[neighbors.route-reflector.config]
route-reflector-client = true
route-reflector-cluster-id = "${local}"
[[neighbors.afi-safis]]
[neighbors.afi-safis.config]
afi-safi-name = "ipv4-unicast"
`,
  )
  .join('')}`,
  OpenBGPD: ({ local, asn, clients, holdTime }) => `AS ${asn}
router-id ${local}
listen on ${local}
fib-update no
nexthop qualify via default
${clients
  .map(
    (client) => `neighbor ${client} {
  remote-as ${asn}
  passive
  route-reflector
  holdtime ${holdTime}
  announce IPv4 unicast
}
`,
  )
  .join('')}allow from any
allow to any
`,
};
