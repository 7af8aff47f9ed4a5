import { readSysctl } from '@bgp-lb/linux';

/** A link, as far as it is looked at. */
interface FitnessLink {
  readonly name: string;
  readonly isUp: boolean;
  readonly hasCarrier: boolean;
}

/** What the fitness of this host follows from. */
export interface FitnessFacts {
  readonly links: readonly FitnessLink[];
  readonly trackInterfaces: readonly string[];
  /** Why the data plane cannot serve, in words. */
  readonly dataPlane: string | undefined;
  /** An operator has drained this load balancer. */
  readonly isDrained: boolean;
}

/** Why this host cannot serve clients, whatever the members are; undefined while it can. Pure. */
export function unfitness({
  links,
  trackInterfaces,
  dataPlane,
  isDrained,
}: FitnessFacts): string | undefined {
  if (isDrained) return 'it is drained';
  for (const name of trackInterfaces) {
    const link = links.find((one) => one.name === name);
    if (link === undefined) return `there is no interface ${name}`;
    if (!link.isUp) return `${name} is down`;
    if (!link.hasCarrier) return `no carrier on ${name}`;
  }
  return dataPlane;
}

/** What keeps the kernel from forwarding packets for these VIPs; undefined while nothing does. */
export function forwardingFault(
  vips: readonly string[],
  read: (name: string) => string = readSysctl,
): string | undefined {
  const settings = [
    ...(vips.some((vip) => !vip.includes(':')) ? ['net.ipv4.ip_forward'] : []),
    ...(vips.some((vip) => vip.includes(':')) ? ['net.ipv6.conf.all.forwarding'] : []),
  ];
  const off = settings.find((name) => isOff(name, read));
  return off === undefined ? undefined : `${off} is 0: this host forwards nothing`;
}

function isOff(name: string, read: (name: string) => string): boolean {
  try {
    return read(name) === '0';
  } catch {
    // What cannot be read is no proof.
    return false;
  }
}
