/** The service that HAProxy is beside the router: it starts when there is a configuration, and lives without the router. */

const CONFIG = '/var/lib/bgp-lb/haproxy/haproxy.cfg';

/**
 * Root without the rights of root: a listening socket may be shared with a HAProxy that is to be replaced only by the same user. Its
 * group is the router's, which drives it. No ExecReload: a reload is the router's, which keeps the members' state across it.
 */
export const haproxyUnit = (group: string): string => `[Unit]
Description=HAProxy of the bgp-lb router
After=network-online.target
Wants=network-online.target
ConditionPathExists=${CONFIG}
# Without it nobody is served: it is started again however often.
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart=/usr/sbin/haproxy -Ws -S /run/bgp-lb-haproxy/master.sock,mode,660 -f ${CONFIG}
Restart=always
RestartSec=200ms
KillMode=mixed
SuccessExitStatus=143
OOMScoreAdjust=-900
LimitNOFILE=524288
Group=${group}
RuntimeDirectory=bgp-lb-haproxy
RuntimeDirectoryMode=0750
# CAP_NET_RAW: a transparent bind, of an address that this host does not have yet.
CapabilityBoundingSet=CAP_NET_BIND_SERVICE CAP_NET_RAW
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;

/** A host whose data plane is the kernel has no configuration, and no HAProxy that runs. */
export const haproxyPathUnit: string = `[Unit]
Description=Start HAProxy when the bgp-lb router has written its configuration

[Path]
PathExists=${CONFIG}

[Install]
WantedBy=multi-user.target
`;
