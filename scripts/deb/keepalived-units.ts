/** The service that keepalived is beside the router: it starts when there is a configuration, and lives without the router. */

const CONFIG = '/var/lib/bgp-lb/keepalived/keepalived.conf';
const RUN = '/run/bgp-lb-keepalived';

/** Addresses of keepalived.conf with their interfaces, each as an argument of `ip address delete`. */
const LEFT = `sed -nE "s#^ +([0-9a-f.:]+/[0-9]+) dev ([^ ]+).*#\\\\1 dev \\\\2#p" ${CONFIG}`;

/**
 * As the router's user, who may tell it to reload then. SETGID: keepalived gives its script that user's groups, and takes a script that
 * it could not start for one that has succeeded. No ExecReload: a reload is the router's, which checks the file before.
 */
export const keepalivedUnit = (user: string): string => `[Unit]
Description=keepalived of the bgp-lb router
After=network-online.target
Wants=network-online.target
ConditionPathExists=${CONFIG}
# Without it another load balancer takes over, and none takes over from that one: it is started again however often.
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/sbin/keepalived -n -P -f ${CONFIG} -p ${RUN}/keepalived.pid -r ${RUN}/vrrp.pid
# One that was killed leaves its addresses, and another host has them too.
ExecStopPost=-/bin/sh -c '${LEFT} | while read -r address; do ip address delete $$address 2>/dev/null; done'
Restart=always
RestartSec=200ms
OOMScoreAdjust=-900
# Advertisements are sent in time on a busy host too.
Nice=-20
User=${user}
AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW CAP_SETGID
CapabilityBoundingSet=CAP_NET_ADMIN CAP_NET_RAW CAP_SETGID
RuntimeDirectory=bgp-lb-keepalived
RuntimeDirectoryMode=0750
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK AF_PACKET
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;

/** A host without VRRP has no configuration, and no keepalived that runs. */
export const keepalivedPathUnit: string = `[Unit]
Description=Start keepalived when the bgp-lb router has written its configuration

[Path]
PathExists=${CONFIG}

[Install]
WantedBy=multi-user.target
`;
