import { type Finding, fault, good, type NftChain, warning } from '@bgp-lb/daemon';
import { type InterfaceAddress, type Link, readSysctl } from '@bgp-lb/linux';
import type { RouterPeerConfig, VipConfig } from '../config/speaker-config.ts';
import { ADDRESS_PROTOCOL, isLease } from '../kernel/vip-addresses.ts';

/** A VIP of this machine that is not where, or as, the speaker puts it. */
export function checkAddresses(
  vips: readonly VipConfig[],
  links: readonly Link[],
  addresses: readonly InterfaceAddress[],
): readonly Finding[] {
  return vips.flatMap((vip) => {
    const found = addresses.filter(({ address }) => address === vip.address);
    if (found.length === 0) return [good('vip address', 'this host', `${vip.address} is not bound`)];
    return found.map((entry): Finding => {
      const link = links.find(({ index }) => index === entry.index);
      const place = link?.name ?? `interface ${entry.index}`;
      if (link?.isLoopback !== true) {
        return fault(
          'vip address',
          place,
          `${vip.address} is on a link: somebody else put it there`,
          'stop kube-vip, keepalived or whatever has it, and remove the address',
        );
      }
      // Kernels before 5.18 tell of no protocol, later ones only of one that was given.
      const isOthers = entry.protocol !== undefined && entry.protocol !== ADDRESS_PROTOCOL;
      if (isOthers || !isLease(entry)) {
        return warning(
          'vip address',
          place,
          `${vip.address} is there without our mark`,
          'remove it: the speaker puts it there itself',
        );
      }
      return good('vip address', place, `${vip.address} is bound by the speaker`);
    });
  });
}

/** A master that is to have no VIP on itself (`vipBind: false`). */
export function checkNoBinding(
  vips: readonly VipConfig[],
  links: readonly Link[],
  addresses: readonly InterfaceAddress[],
  routers: readonly Pick<RouterPeerConfig, 'address'>[],
): readonly Finding[] {
  return vips.map((vip): Finding => {
    const entry = addresses.find(({ address }) => address === vip.address);
    if (entry === undefined) {
      const ways = routers.map(({ address }) => address).join(', ');
      return good(
        'vip address',
        'this host',
        `${vip.address} is not here (vipBind: false); clients come by ${ways}`,
      );
    }
    const place = links.find(({ index }) => index === entry.index)?.name ?? `interface ${entry.index}`;
    return warning(
      'vip address',
      place,
      `${vip.address} is here, and vipBind is false: the speaker did not put it there`,
      'where this host is no load balancer, remove it: packets of this host to the VIP reach no other master',
    );
  });
}

/** arp_ignore and arp_announce: the larger of `all` and the link counts. */
export function checkArp(
  links: readonly Link[],
  confOf: (index: number) => {
    readonly arpIgnore?: number | undefined;
    readonly arpAnnounce?: number | undefined;
  },
): readonly Finding[] {
  const all = (name: string): number => Number(readSysctl(`net.ipv4.conf.all.${name}`));
  const [allIgnore, allAnnounce] = [all('arp_ignore'), all('arp_announce')];
  return links.map(({ index, name }) => {
    const { arpIgnore = 0, arpAnnounce = 0 } = confOf(index);
    const [ignore, announce] = [Math.max(arpIgnore, allIgnore), Math.max(arpAnnounce, allAnnounce)];
    const value = `arp_ignore=${ignore} arp_announce=${announce}`;
    return ignore >= 1 && announce >= 2
      ? good('arp', name, value)
      : fault(
          'arp',
          name,
          `${value}; wanted: 1 and 2`,
          `this host answers ARP for the VIP: start the speaker, or sysctl net.ipv4.conf.${name}.arp_ignore=1 net.ipv4.conf.${name}.arp_announce=2`,
        );
  });
}

/** Input chains that drop what no rule accepts: whether they accept ours only their rules tell, and those are named. */
export function checkFirewall(chains: readonly NftChain[], needed: readonly string[]): readonly Finding[] {
  if (chains.length === 0) return [good('firewall', 'nftables', 'no input chain drops by default')];
  return chains.map(({ family, table, name }) =>
    warning(
      'firewall',
      `${family} ${table} ${name}`,
      'drops what no rule accepts',
      `its rules have to accept: ${needed.join('; ')}`,
    ),
  );
}
