import { commandLine } from './command-line.ts';
import { sandbox } from './sandbox.ts';

/**
 * A systemd unit that puts the routes of `routeToVip` into the kernel at each boot, before the kubelet starts: the pod that keeps
 * them comes later. Tries again while a load balancer is not on a link, ten times.
 * @param program as `DrainUnitOptions` has it
 */
export function routesUnit(program: readonly string[], configFile: string): string {
  return `[Unit]
Description=Routes to the control plane VIPs
Wants=network-online.target
After=network-online.target
Before=kubelet.service
ConditionPathExists=${configFile}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${commandLine([...program, 'prepare', '--routes-only', '--config', configFile])}
Restart=on-failure
RestartSec=5
CapabilityBoundingSet=CAP_NET_ADMIN
RestrictAddressFamilies=AF_NETLINK AF_UNIX
ProtectKernelTunables=yes
RestrictRealtime=yes
${sandbox}

[Install]
WantedBy=multi-user.target
`;
}
