import { ipVersion, withoutZone } from '@bgp-lb/protocol';
import type { Resolution } from './desired-objects.ts';
import { addressIs, match, type NftJson, type NftTable, RAW_PRIORITY } from './nft-table.ts';

/** A member that a VIP is forwarded to, and how. */
interface CopyTarget {
  readonly nextHop: string;
  readonly interfaceName: string;
  readonly interfaceIndex: number;
}

/** By the VIP's address, without length. */
export type CopyTargets = ReadonlyMap<string, readonly CopyTarget[]>;

/** The members that VIPs are forwarded to, with how they are reached now. */
export function copyTargets(
  vips: readonly { readonly prefix: string; readonly address: string }[],
  forwarding: ReadonlyMap<string, readonly string[]>,
  resolve: (nextHop: string) => Resolution,
): CopyTargets {
  const target = (nextHop: string): CopyTarget[] => {
    const way = resolve(nextHop);
    return 'problem' in way ? [] : [{ nextHop, ...way }];
  };
  return new Map(
    vips.map(({ prefix, address }) => [address, (forwarding.get(prefix) ?? []).flatMap(target)]),
  );
}

/** Copies per second and VIP at most: a path that became smaller is told again with each packet that is too big. */
const RATE = 1000;
/** TTL of what is passed on, which is one less at the member: enough to be taken, too little to be sent on. */
const TTL = 2;

/**
 * Gives every member of a VIP a copy of "fragmentation needed" (RFC 1191 section 4) and "packet too big" (RFC 8201
 * section 4): the router in the path sends them to the VIP, and they have no ports, so that the hash leads them to any
 * member and not to the one whose connection they are about. That one would send its large packets for ever.
 *
 * The TTL is set so low that a member which has just lost the VIP drops its copy: one that sent it back would have it
 * multiplied again here. The packet itself goes its way too, so that without a copy everything is as it was.
 */
export function copyTable(version: 4 | 6, targets: CopyTargets): NftTable {
  const family = version === 4 ? 'ip' : 'ip6';
  const vips = [...targets].filter(
    ([address, members]) => ipVersion(address) === version && members.length > 1,
  );
  const rules = vips.map(([address, members]) => {
    const copies = members.map(
      ({ nextHop, interfaceName }): NftJson => ({
        dup: { addr: withoutZone(nextHop), dev: interfaceName },
      }),
    );
    return {
      expression: [addressIs({ address }, 'daddr'), ...tooBig(version), ...limited(version), ...copies],
      meaning: members.map(({ interfaceIndex }) => interfaceIndex).join(' '),
    };
  });
  return { family, chains: [{ name: 'copies', hook: 'prerouting', priority: RAW_PRIORITY, rules }] };
}

function tooBig(version: 4 | 6): NftJson[] {
  const field = (protocol: string, name: string): NftJson => ({ payload: { protocol, field: name } });
  return version === 4
    ? [match(field('icmp', 'type'), 'destination-unreachable'), match(field('icmp', 'code'), 'frag-needed')]
    : [match(field('icmpv6', 'type'), 'packet-too-big')];
}

function limited(version: 4 | 6): NftJson[] {
  const key = {
    payload: version === 4 ? { protocol: 'ip', field: 'ttl' } : { protocol: 'ip6', field: 'hoplimit' },
  };
  return [
    { limit: { rate: RATE, burst: RATE, per: 'second' } },
    { counter: null },
    { mangle: { key, value: TTL } },
  ];
}
