/** One setting of the host. */
export interface SysctlSetting {
  readonly name: string;
  readonly value: string;
  /** Values that are left as they are, besides `value` itself. */
  readonly acceptable: readonly string[];
  /** Another setting: what takes effect is the greater of the two (Documentation/networking/ip-sysctl). */
  readonly maximumWith?: string;
  readonly why: string;
}

/** What the settings depend on. */
export interface SysctlNeeds {
  readonly versions: readonly (4 | 6)[];
  /** Interfaces by which members are reached. */
  readonly memberInterfaces: readonly string[];
  /** All interfaces; of use for IPv6 only. */
  readonly interfaces: readonly string[];
}

/** The settings that an LB host needs, in the order in which they are to be made. */
export function wantedSysctls(needs: SysctlNeeds): SysctlSetting[] {
  return [
    ...(needs.versions.includes(4) ? ipv4(needs.memberInterfaces) : []),
    ...(needs.versions.includes(6) ? ipv6(needs.interfaces) : []),
  ];
}

function ipv4(memberInterfaces: readonly string[]): SysctlSetting[] {
  const redirects = 'a redirect would make clients bypass this host';
  return [
    // Writing ip_forward resets other settings even when the value stays: it is only written when it is 0.
    set('net.ipv4.ip_forward', '1', 'packets to the VIP are forwarded'),
    set('net.ipv4.fib_multipath_hash_policy', '1', 'connections, not hosts, are spread'),
    set('net.ipv4.conf.all.send_redirects', '0', redirects),
    ...memberInterfaces.flatMap((name) => [
      set(`net.ipv4.conf.${name}.send_redirects`, '0', redirects),
      set(`net.ipv4.conf.${name}.src_valid_mark`, '1', 'rp_filter looks probe answers up by their mark'),
      // Strict filtering refuses answers that a member sends by another interface; 0 filters nothing and may stay.
      {
        ...set(`net.ipv4.conf.${name}.rp_filter`, '2', 'direct return is asymmetric', ['0']),
        maximumWith: 'net.ipv4.conf.all.rp_filter',
      },
    ]),
  ];
}

function ipv6(interfaces: readonly string[]): SysctlSetting[] {
  return [
    // A host that forwards ignores router advertisements unless accept_ra is 2, and would lose its default route.
    ...interfaces.map((name) =>
      set(`net.ipv6.conf.${name}.accept_ra`, '2', 'forwarding must not cost the default route', ['0']),
    ),
    set('net.ipv6.conf.all.forwarding', '1', 'packets to the VIP are forwarded'),
    set('net.ipv6.fib_multipath_hash_policy', '1', 'connections, not hosts, are spread'),
  ];
}

function set(name: string, value: string, why: string, acceptable: readonly string[] = []): SysctlSetting {
  return { name, value, acceptable, why };
}

/** Reads and writes single settings; `@bgp-lb/linux` has one. */
export interface SysctlAccess {
  read(name: string): string;
  write(name: string, value: string): void;
}

/**
 * Makes the settings that are not as wanted, or with `mayWrite` false only looks at them. Returns what was changed and
 * what is not as it should be, one sentence each.
 */
export function applySysctls(
  settings: readonly SysctlSetting[],
  access: SysctlAccess,
  mayWrite = true,
): { changed: string[]; problems: string[] } {
  const changed: string[] = [];
  const problems: string[] = [];
  for (const { name, value, acceptable, maximumWith, why } of settings) {
    try {
      const own = access.read(name);
      const other = maximumWith === undefined ? own : access.read(maximumWith);
      const before = Number(other) > Number(own) ? other : own;
      if (before === value || acceptable.includes(before)) {
        continue;
      }
      if (!mayWrite) {
        problems.push(`sysctl ${name} is ${before} and should be ${value} (${why}); manageSysctls is off`);
      } else {
        access.write(name, value);
        changed.push(`${name}: ${before} -> ${value}`);
      }
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      problems.push(`sysctl ${name} cannot be set to ${value} (${why}): ${cause}`);
    }
  }
  return { changed, problems };
}
