import { addressOwners, type InterfaceAddress, type Link, readSysctl, SystemCallError } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';
import { ADDRESS_PROTOCOL } from '../kernel/vip-addresses.ts';
import { type Finding, fault, good, warning } from './finding.ts';

/** Milliseconds that an owner of the VIP has to answer. */
const ANSWER_TIME = 600;

/** Asks each link that speaks ARP or neighbour discovery whether somebody else has the VIP. */
export function checkOwners(vips: readonly VipConfig[], links: readonly Link[]): readonly Finding[] {
  return vips.flatMap(({ address }) =>
    links.map(({ index, name, address: mac }) => {
      if (mac === undefined) return good('vip owner', name, `${address}: the link has no neighbours`);
      const check = 'vip owner';
      try {
        const owners = addressOwners({ index, address: mac }, address, ANSWER_TIME);
        return owners.length === 0
          ? good(check, name, `nobody answers for ${address}`)
          : fault(
              check,
              name,
              `${address} is answered for by ${owners.join(', ')}`,
              'if that is not your load balancer, find the host and take the address off it: kube-vip, keepalived, or a master without arp_ignore=1',
            );
      } catch (error) {
        if (!(error instanceof SystemCallError)) throw error;
        return warning(
          check,
          name,
          error.message,
          'run doctor on the host as root: asking needs CAP_NET_RAW',
        );
      }
    }),
  );
}

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
      // Kernels before 5.18 tell of no protocol.
      if (entry.protocol !== undefined && entry.protocol !== ADDRESS_PROTOCOL) {
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

/** An input chain of nftables as `nft -j list chains` has it. */
interface Chain {
  readonly family: string;
  readonly table: string;
  readonly name: string;
  readonly hook?: string;
  readonly policy?: string;
}

/** Chains that drop what nobody accepts: whether they accept ours only their rules tell, and those are named. */
export function checkFirewall(chains: readonly Chain[], needed: readonly string[]): readonly Finding[] {
  const dropping = chains.filter(({ hook, policy }) => hook === 'input' && policy === 'drop');
  if (dropping.length === 0) return [good('firewall', 'nftables', 'no input chain drops by default')];
  return dropping.map(({ family, table, name }) =>
    warning(
      'firewall',
      `${family} ${table} ${name}`,
      'drops what no rule accepts',
      `its rules have to accept: ${needed.join('; ')}`,
    ),
  );
}

/** Whether the clock is kept by NTP: certificates are judged by it. */
export function checkClock(isSynchronized: boolean, now: Date): Finding {
  return isSynchronized
    ? good('time', 'clock', `synchronized, ${now.toISOString()}`)
    : warning(
        'time',
        'clock',
        `not synchronized by the kernel's word, ${now.toISOString()}`,
        'start chrony or systemd-timesyncd: certificates are judged by the clock',
      );
}
