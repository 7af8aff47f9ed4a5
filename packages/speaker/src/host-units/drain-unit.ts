import { commandLine } from './command-line.ts';
import { sandbox } from './sandbox.ts';

/** What the unit that drains a master before it shuts down is made of. */
export interface DrainUnitOptions {
  /** The program on the host: an absolute path, and arguments before the command if it needs any. */
  readonly program: readonly string[];
  /** Path of the running speaker's control socket on the host; undefined for the command's default, or what BGP_LB_SOCKET says. */
  readonly socket: string | undefined;
  /** Milliseconds that the drain may last. */
  readonly timeout: number;
}

/** Seconds beyond the drain timeout that systemd waits: routers move on, and what is left is reset. */
const GRACE = 30;

/**
 * A systemd unit that does nothing but drain this master when the host shuts down. What is started later is stopped earlier
 * (systemd.unit(5), `Before=`): ordered after kubelet and container runtime, it is stopped before them, so that API server
 * and speaker still run. The order ends with this boot: the master is in service again after the next.
 */
export function drainUnit({ program, socket, timeout }: DrainUnitOptions): string {
  const where = socket === undefined ? [] : ['--socket', socket];
  const words = [...program, 'drain', '--force', '--until-reboot', ...where];
  return `[Unit]
Description=Drain the control plane VIP before this host shuts down
Documentation=man:systemd.unit(5)
After=network-online.target containerd.service crio.service cri-o.service docker.service kubelet.service
Wants=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=-${commandLine(words)}
TimeoutStopSec=${Math.ceil(timeout / 1000) + GRACE}
# It asks the speaker by the control socket, and that is all.
CapabilityBoundingSet=
RestrictAddressFamilies=AF_UNIX
ProtectKernelTunables=yes
RestrictRealtime=yes
PrivateNetwork=yes
${sandbox}

[Install]
WantedBy=multi-user.target
`;
}
