/** What a load balancer's host has besides the program: units and settings. The Debian package and cloud-init put the same there. */
import { sandbox } from '../host-units/sandbox.ts';
import { shutdownUnit } from '../host-units/shutdown-unit.ts';

/** How the router is started on a host. */
export interface RouterProgram {
  /** Command line without the command: `/usr/lib/bgp-lb/node /usr/lib/bgp-lb/bgp-lb-router.mjs`. */
  readonly command: string;
  /** The user that it runs as; undefined for root, with the same capabilities. */
  readonly user: string | undefined;
}

/**
 * All that the router needs of root: routes, nft and `net` sysctls; port 179; packets of ARP and neighbor discovery; the
 * priority of the BFD thread.
 */
export const ROUTER_CAPABILITIES = 'CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_RAW CAP_SYS_NICE';

const CONFIG = '/etc/bgp-lb/router.yaml';

/** The most that a drain waits before it withdraws, and what systemd gives it for all. */
const DRAIN = { wait: '10s', limit: 30 } as const;

/** The router under systemd. Before 253 there is no `notify-reload`: the command `reload` waits for the answer, and says it. */
export function routerUnit({ command, user }: RouterProgram): string {
  return `[Unit]
Description=bgp-lb router
Wants=network-online.target
After=network-online.target nftables.service firewalld.service
ConditionPathExists=${CONFIG}
# Without it nobody forwards after a crash: it is started again however often.
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart=${command} run
ExecReload=${command} reload
Restart=always
RestartSec=1
WatchdogSec=30
TimeoutStopSec=30
# nft, which changes tables in one transaction, ends by itself.
KillMode=mixed
OOMScoreAdjust=-900
${user === undefined ? '' : `User=${user}\n`}RuntimeDirectory=bgp-lb
RuntimeDirectoryPreserve=yes
StateDirectory=bgp-lb
AmbientCapabilities=${ROUTER_CAPABILITIES}
CapabilityBoundingSet=${ROUTER_CAPABILITIES}
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET
# No ProtectKernelTunables: /proc/sys/net is written (dataplane.manageSysctls). No MemoryDenyWriteExecute: V8 compiles.
# No RestrictRealtime: the BFD thread asks for SCHED_FIFO. No PrivateUsers, PrivateNetwork: the network is the host's.
${sandbox}

[Install]
WantedBy=multi-user.target
`;
}

/** Drains the load balancer when the host shuts down, and then only: a restart of the router, as by an upgrade, does not stop this unit. */
export function routerDrainUnit({ command, user }: RouterProgram): string {
  return shutdownUnit({
    description: 'Drain this load balancer before the host shuts down',
    unit: [`ConditionPathExists=${CONFIG}`],
    after: ['bgp-lb-router.service'],
    command: `${command} drain --wait ${DRAIN.wait}`,
    limit: DRAIN.limit,
    user,
  });
}

/** The same as the router sets when it starts (`dataplane.manageSysctls`), from the boot on. */
export const routerSysctls = `# The router sets these when it starts, and those of its interfaces. What has a - may be missing: machines without IPv6.
net.ipv4.ip_forward = 1
net.ipv4.fib_multipath_hash_policy = 1
-net.ipv6.fib_multipath_hash_policy = 1
net.ipv4.conf.all.send_redirects = 0
net.ipv4.conf.default.send_redirects = 0
`;

/** systemd 249 has the first two, 256 the last; older ones say that they do not know it, and go on. */
export const networkdDropIn = `# networkd deletes routes, rules and next hops that it did not make.
[Network]
ManageForeignRoutes=no
ManageForeignRoutingPolicyRules=no
ManageForeignNextHops=no
`;
