import { commandLine } from './command-line.ts';
import { shutdownUnit } from './shutdown-unit.ts';

/** What the unit that drains a master before it shuts down is made of. */
export interface DrainUnitOptions {
  /** The program on the host: an absolute path, and arguments before the command if it needs any. */
  readonly program: readonly string[];
  /** Path of the running speaker's control socket on the host; undefined for the command's default, or what BGP_LB_SOCKET says. */
  readonly socket: string | undefined;
  /** Milliseconds that the drain may last. */
  readonly timeout: number;
}

/** The name of the unit, of the Debian package and of cloud-init. */
export const DRAIN_UNIT = 'bgp-lb-drain.service';

/** Seconds beyond the drain timeout that systemd waits: routers move on, and what is left is reset. */
const GRACE = 30;

/** TimeoutStopSec of a unit whose drain may last so many milliseconds. */
export function stopSeconds(drainTimeout: number): number {
  return Math.ceil(drainTimeout / 1000) + GRACE;
}

/** What still runs while a master drains. */
const after = ['containerd', 'crio', 'cri-o', 'docker', 'kubelet'].map((name) => `${name}.service`);

/**
 * A systemd unit that drains this master when the host shuts down: before kubelet and container runtime are stopped, so that API server
 * and speaker still run. The order ends with this boot: the master is in service again after the next.
 */
export function drainUnit({ program, socket, timeout }: DrainUnitOptions): string {
  const where = socket === undefined ? [] : ['--socket', socket];
  return shutdownUnit({
    description: 'Drain the control plane VIP before this host shuts down',
    after,
    command: commandLine([...program, 'drain', '--force', '--until-reboot', ...where]),
    limit: stopSeconds(timeout),
  });
}
