import { type Finding, fault, good, type NftChain, warning } from '@bgp-lb/daemon';
import type { Link } from '@bgp-lb/linux';
import { applySysctls, type SysctlAccess, type SysctlSetting } from './sysctls.ts';

/** Forward chains that drop what no rule accepts: VIP packets have to pass them. Pure. */
export function checkForwarding(
  chains: readonly NftChain[],
  vips: readonly { readonly address: string; readonly port: number }[],
  hasLegacyFilter: boolean,
): readonly Finding[] {
  const check = 'firewall';
  const needed = vips.map(({ address, port }) => `TCP to ${address} port ${port}`).join(', ');
  const fix = `its rules have to accept ${needed} and ICMP to it; answers of masters do not pass here`;
  const findings = chains.map(({ family, table, name }) =>
    warning(check, `${family} ${table} ${name}`, 'drops forwarded packets that no rule accepts', fix),
  );
  if (hasLegacyFilter) {
    const what = 'rules of iptables-legacy are loaded, which nft does not show';
    findings.push(warning(check, 'iptables-legacy filter', what, `iptables-legacy -S FORWARD: ${fix}`));
  }
  return findings.length === 0 ? [good(check, 'nftables', 'no forward chain drops by default')] : findings;
}

/** The settings that forwarding needs; with `fixes` they are made. */
export function checkSysctls(
  settings: readonly SysctlSetting[],
  access: SysctlAccess,
  fixes: boolean,
): readonly Finding[] {
  const check = 'sysctl';
  const findings = settings.flatMap((setting): Finding[] => {
    const { name, value, why } = setting;
    const { changed, problems } = applySysctls([setting], access, fixes);
    if (problems.length > 0) {
      return [fault(check, name, problems.join('; '), `sysctl -w ${name}=${value}, or doctor --fix: ${why}`)];
    }
    return changed.map((change) => good(check, name, `fixed: ${change}`));
  });
  return findings.length > 0
    ? findings
    : [good(check, 'this host', `${settings.length} settings are as wanted`)];
}

/**
 * Links of different MTU: what comes by the larger one may not fit the smaller, and with direct return the message that
 * says so goes to any member. Pure.
 */
export function checkMtu(
  links: readonly Pick<Link, 'name' | 'mtu'>[],
  memberLinks: readonly string[],
): readonly Finding[] {
  const check = 'mtu';
  const towards = links.filter(({ name }) => memberLinks.includes(name));
  const smallest = Math.min(...towards.map(({ mtu }) => mtu));
  const larger = links.filter(({ name, mtu }) => !memberLinks.includes(name) && mtu > smallest);
  if (towards.length === 0) return [];
  const names = (list: readonly Pick<Link, 'name' | 'mtu'>[]): string =>
    list.map(({ name, mtu }) => `${name} ${mtu}`).join(', ');
  return larger.length === 0
    ? [good(check, names(towards), 'no link brings more than those towards the masters take')]
    : [
        warning(
          check,
          names(towards),
          `smaller than ${names(larger)}`,
          'give the links towards the masters the MTU of the others, or clients a smaller one',
        ),
      ];
}
