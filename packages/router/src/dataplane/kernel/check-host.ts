import { type Finding, fault, good, warning } from '@bgp-lb/daemon';
import { type Firewall, type FirewallPacket, type Link, packetFate } from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import { foreignChains } from './firewall-watch.ts';
import { applySysctls, type SysctlAccess, type SysctlSetting } from './sysctls.ts';

/** Names of the interfaces that clients come by, and of those towards members. */
interface PassedLinks {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** What filters packets of clients on their way to members: a fault where it lets none through, a warning where that is not known. Pure. */
export function checkForwarding(
  firewall: Firewall,
  vips: readonly { readonly address: string; readonly port: number }[],
  links: PassedLinks,
): readonly Finding[] {
  const check = 'firewall';
  const fix = (address: string, port: number): string =>
    `its rules have to accept TCP to ${address} port ${port} and ICMP to it; answers of masters do not pass here`;
  const findings = vips.flatMap(({ address, port }): Finding[] => {
    const { surely, perhaps } = droppedOnTheWay(firewall, address, port, links);
    return [
      ...surely.map((chain) =>
        fault(
          check,
          chain,
          `drops packets of clients to ${address}: no rule accepts them`,
          fix(address, port),
        ),
      ),
      ...perhaps.map((chain) => {
        const value = `may drop packets of clients to ${address}: whether a rule accepts them only packets tell`;
        return warning(check, chain, value, fix(address, port));
      }),
    ];
  });
  const unread = firewall.unread.map(({ table, problem }) =>
    warning(
      check,
      table,
      `it is loaded, and cannot be read: ${problem}`,
      /^ip6?tables/.test(table) ? `install iptables; ${table.split(' ')[0]} -S` : `nft list table ${table}`,
    ),
  );
  const all = [...findings, ...unread];
  return all.length === 0 ? [good(check, 'this host', 'no chain drops packets of clients')] : all;
}

/** Chains that let no packet of a client through, and those that may not. */
function droppedOnTheWay(
  firewall: Firewall,
  destination: string,
  destinationPort: number,
  { inputs, outputs }: PassedLinks,
): { readonly surely: readonly string[]; readonly perhaps: readonly string[] } {
  const chains = foreignChains(firewall);
  const version = ipVersion(destination);
  const fates = inputs.flatMap((input) =>
    outputs.map((output) => {
      const packet: FirewallPacket = { version, input, output, destination, destinationPort };
      const { input: _, ...leaving } = packet;
      const { output: __, ...arriving } = packet;
      const before = packetFate(chains, 'prerouting', arriving);
      const between = packetFate(chains, 'forward', packet, before.marks);
      return [before, between, packetFate(chains, 'postrouting', leaving, between.marks)];
    }),
  );
  const all = new Set(fates.flatMap((hooks) => hooks.flatMap(({ by }) => by)));
  const isSure = (chain: string): boolean =>
    fates.every((hooks) => hooks.some(({ isDropped, by }) => isDropped === 'yes' && by.includes(chain)));
  return {
    surely: [...all].filter(isSure),
    perhaps: [...all].filter((chain) => !isSure(chain)),
  };
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
