import { formatHostPort, type HostPort } from './address.ts';
import type { CrossFieldFault } from './cross-field-fault.ts';
import { formatDuration } from './duration.ts';

type Path = CrossFieldFault['path'];

/** How many intervals one probe may last, and how long in any case: it is the only one of its target until it ends. */
const LONGEST_PROBE = { intervals: 10, time: 10_000 } as const;

/** Probes that last so long that the time between them says nothing. Times are milliseconds. */
export function probeTimeFaults(
  { interval, timeout }: { readonly interval: number; readonly timeout: number },
  section: string,
): CrossFieldFault[] {
  const most = Math.max(LONGEST_PROBE.intervals * interval, LONGEST_PROBE.time);
  if (timeout <= most) return [];
  return [
    {
      path: [section, 'timeout'],
      message: `is too long beside the interval of ${formatDuration(interval)}: no second probe is made while one waits`,
      value: formatDuration(timeout),
      allowed: `at most ${formatDuration(most)}, or a longer ${section}.interval`,
    },
  ];
}

const BGP_PORT = 179;

/** Ports of a VIP that are BGP's. */
export function vipPortFaults(
  vips: readonly { readonly port: number; readonly machinePort: number }[],
): CrossFieldFault[] {
  return vips.flatMap((vip, index) =>
    (['port', 'machinePort'] as const).flatMap((key): CrossFieldFault[] => {
      if (vip[key] !== BGP_PORT) return [];
      const message = 'is the port of BGP';
      return [
        { path: ['vips', index, key], message, value: BGP_PORT, allowed: 'the port of the API servers' },
      ];
    }),
  );
}

/** Two listeners of this host that cannot be at one time. */
export function listenerFault(
  path: Path,
  listen: HostPort,
  other: { readonly addresses: readonly string[]; readonly port: number; readonly name: string },
): CrossFieldFault[] {
  const isTaken = other.addresses.some(
    (address) =>
      address === listen.host ||
      (isIPv6(address) === isIPv6(listen.host) && (isAny(address) || isAny(listen.host))),
  );
  if (listen.port !== other.port || !isTaken) return [];
  const message = `is the port of ${other.name} too`;
  return [{ path, message, value: formatHostPort(listen), allowed: 'another port' }];
}

/** The sentence on an HTTP API that other hosts can read. */
export function openApiWarnings(listen: HostPort): string[] {
  if (!isAny(listen.host)) return [];
  return [
    `api.listen ${formatHostPort(listen)}: every host that reaches this one may read status, sessions, events and metrics there, without a password; it changes nothing by it`,
  ];
}

function isAny(address: string): boolean {
  return address === '0.0.0.0' || address === '::';
}

function isIPv6(address: string): boolean {
  return address.includes(':');
}
