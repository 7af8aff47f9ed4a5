/** What the unit that drains a master before it shuts down is made of. */
export interface DrainUnitOptions {
  /** The program's absolute path on the host. */
  readonly program: string;
  /** Path of the running speaker's control socket on the host. */
  readonly socket: string;
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
  const words = [program, 'drain', '--force', '--until-reboot', '--socket', socket].map(quoted);
  return `[Unit]
Description=Drain the control plane VIP before this host shuts down
Documentation=man:systemd.unit(5)
After=network-online.target containerd.service crio.service cri-o.service docker.service kubelet.service
Wants=network-online.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=-${words.join(' ')}
TimeoutStopSec=${Math.ceil(timeout / 1000) + GRACE}

[Install]
WantedBy=multi-user.target
`;
}

/** A word of a command line of systemd (systemd.service(5), "COMMAND LINES"): no specifier, variable or escape is meant. */
function quoted(word: string): string {
  const literal = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w./:@%$=-]+$/.test(literal)
    ? literal
    : `"${literal.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
