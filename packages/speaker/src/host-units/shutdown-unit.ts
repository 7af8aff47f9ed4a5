import { sandbox } from './sandbox.ts';

/** What a unit that drains before the host shuts down is made of. */
export interface ShutdownUnitOptions {
  readonly description: string;
  /** More lines of [Unit]. */
  readonly unit?: readonly string[];
  /** Units that still run while it drains. */
  readonly after: readonly string[];
  /** Command line of what drains: it asks the daemon by its control socket, and needs nothing else. */
  readonly command: string;
  /** Seconds that systemd gives it. */
  readonly limit: number;
  /** Undefined for root. */
  readonly user?: string | undefined;
}

/**
 * A systemd unit that does nothing but run a command when the host shuts down. What is started later is stopped earlier
 * (systemd.unit(5), `Before=`): ordered after others, it is stopped before them, so that they still run.
 */
export function shutdownUnit({
  description,
  unit = [],
  after,
  command,
  limit,
  user,
}: ShutdownUnitOptions): string {
  return `[Unit]
Description=${description}
Documentation=man:systemd.unit(5)
Wants=network-online.target
After=${['network-online.target', ...after].join(' ')}
${unit.map((line) => `${line}\n`).join('')}
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/true
ExecStop=-${command}
TimeoutStopSec=${limit}
${user === undefined ? '' : `User=${user}\n`}# It asks the daemon by the control socket, and that is all.
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
