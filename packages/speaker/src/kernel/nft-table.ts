import type { NftCommand, NftObject, SetElements } from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { VipConfig } from '../config/speaker-config.ts';

/** Family and name of the speaker's own table: nothing else in nftables is touched. */
export const NFT_FAMILY = 'inet';
export const NFT_TABLE = 'bgp_lb_speaker';

const table = { family: NFT_FAMILY, table: NFT_TABLE } as const;
const UPLINKS = 'uplinks';
/** NF_IP_PRI_NAT_DST less 10. */
const MAPPING_PRIORITY = -110;

interface IpFamily {
  /** Protocol name of nft's payload expression. */
  readonly protocol: 'ip' | 'ip6';
  readonly addressType: 'ipv4_addr' | 'ipv6_addr';
  readonly vips: string;
  readonly mapped: string;
  /** Octets of the IP and TCP headers, without options. */
  readonly headers: number;
}

const ipv4: IpFamily = {
  ...{ protocol: 'ip', addressType: 'ipv4_addr', vips: 'vips4', mapped: 'mapped4' },
  headers: 40,
};
const ipv6: IpFamily = {
  ...{ protocol: 'ip6', addressType: 'ipv6_addr', vips: 'vips6', mapped: 'mapped6' },
  headers: 60,
};

/** A VIP's port is mapped on this master only when the API server listens on another one. */
export function needsMapping(vip: VipConfig): boolean {
  return vip.port !== vip.machinePort;
}

/** The links that packets for the VIPs come in by. */
export interface Uplinks {
  readonly names: readonly string[];
  /** The smallest MTU of those by which the load balancers are reached; undefined while there is no way to any. */
  readonly mtu: number | undefined;
}

/**
 * The whole table as one transaction: whatever was there is replaced without a moment in between.
 *
 * Guard: a VIP packet that comes in by an uplink and is not for this host was misdirected by a router that has not moved
 * on yet. TCP gets a reset, so that the client connects again at once; the rest is dropped, so that it cannot loop. It sits
 * in prerouting, since a host with ip_forward=0 drops such packets before the forward hook, silently. Packets of pods to
 * the VIP come in by other interfaces and pass.
 *
 * Mapping: dnat that leaves the address alone (`redirect` would not), in prerouting for clients and in output for this
 * host itself. Before the chains of kube-proxy and of host ports (priority -100), whose rules for a port at any address of
 * this host would take the VIP's for theirs: of several nat chains the first that translates decides.
 */
export function tableCommands(
  vips: readonly VipConfig[],
  { names, mtu }: Uplinks,
  bound: readonly VipConfig[],
  leaseSeconds: number,
): readonly NftCommand[] {
  return [
    add({ table: { family: NFT_FAMILY, name: NFT_TABLE } }),
    { delete: { table: { family: NFT_FAMILY, name: NFT_TABLE } } },
    add({ table: { family: NFT_FAMILY, name: NFT_TABLE } }),
    ...guardCommands(vips, names),
    ...(mtu === undefined ? [] : segmentCommands(vips, mtu)),
    ...(vips.some(needsMapping) ? mappingCommands(vips, bound, leaseSeconds) : []),
  ];
}

function guardCommands(vips: readonly VipConfig[], uplinks: readonly string[]): readonly NftCommand[] {
  const families = familiesOf(vips);
  return [
    set(UPLINKS, 'ifname', uplinks),
    ...families.map(({ family, members }) =>
      set(
        family.vips,
        family.addressType,
        members.map((vip) => vip.address),
      ),
    ),
    chain('guard', { type: 'filter', hook: 'prerouting', prio: -150 }),
    ...families.flatMap(({ family }) => {
      const misdirected = [
        match('==', { meta: { key: 'iifname' } }, `@${UPLINKS}`),
        match('==', destinationAddress(family), `@${family.vips}`),
        match('!=', { fib: { result: 'type', flags: ['daddr'] } }, 'local'),
      ];
      return [
        rule('guard', [
          ...misdirected,
          match('==', { meta: { key: 'l4proto' } }, 'tcp'),
          counter,
          { reject: { type: 'tcp reset' } },
        ]),
        rule('guard', [...misdirected, counter, { drop: null }]),
      ];
    }),
  ];
}

/**
 * What clients may send in one segment is what this host says in its SYN-ACK, by the link that the answer leaves by. What they send comes
 * by a load balancer, whose link to this host may carry less, as an overlay's does. `set` never makes the option larger.
 */
function segmentCommands(vips: readonly VipConfig[], mtu: number): readonly NftCommand[] {
  const flags = { payload: { protocol: 'tcp', field: 'flags' } };
  return [
    add({
      chain: { ...table, name: 'segments', type: 'filter', hook: 'output', prio: -150, policy: 'accept' },
    }),
    ...familiesOf(vips).map(({ family }) =>
      rule('segments', [
        match('==', { payload: { protocol: family.protocol, field: 'saddr' } }, `@${family.vips}`),
        match('==', { '&': [flags, { '|': ['syn', 'rst'] }] }, 'syn'),
        {
          mangle: {
            key: { 'tcp option': { name: 'maxseg', field: 'size' } },
            value: mtu - family.headers,
          },
        },
      ]),
    ),
  ];
}

function mappingCommands(
  vips: readonly VipConfig[],
  bound: readonly VipConfig[],
  leaseSeconds: number,
): readonly NftCommand[] {
  const families = familiesOf(vips.filter(needsMapping));
  return [
    ...families.map(({ family }) =>
      add({
        set: {
          ...table,
          name: family.mapped,
          type: [family.addressType, 'inet_service'],
          flags: ['timeout'],
        },
      }),
    ),
    chain('mapping', { type: 'nat', hook: 'prerouting', prio: MAPPING_PRIORITY }),
    chain('local_mapping', { type: 'nat', hook: 'output', prio: MAPPING_PRIORITY }),
    ...families.flatMap(({ family, members }) => {
      const machinePort = members[0]?.machinePort;
      const destination = {
        concat: [destinationAddress(family), { payload: { protocol: 'tcp', field: 'dport' } }],
      };
      const map = [
        match('==', destination, `@${family.mapped}`),
        { dnat: { family: family.protocol, port: machinePort } },
      ];
      return [rule('mapping', map), rule('local_mapping', map)];
    }),
    ...elementCommands(bound, leaseSeconds),
  ];
}

/** The mappings of exactly the bound VIPs with a fresh lease, for `NftElements` on a table that is there. */
export function mappingElements(
  vips: readonly VipConfig[],
  bound: readonly VipConfig[],
  leaseSeconds: number,
): readonly SetElements[] {
  return familiesOf(vips.filter(needsMapping)).map(({ family, members }) => ({
    set: family.mapped,
    elements: members
      .filter((vip) => bound.includes(vip))
      .map(({ address, port }) => ({ key: [address, port], timeout: leaseSeconds * 1000 })),
  }));
}

function elementCommands(bound: readonly VipConfig[], leaseSeconds: number): readonly NftCommand[] {
  return familiesOf(bound.filter(needsMapping)).map(({ family, members }) =>
    add({
      element: {
        ...table,
        name: family.mapped,
        elem: members.map((vip) => ({
          elem: { val: { concat: [vip.address, vip.port] }, timeout: leaseSeconds },
        })),
      },
    }),
  );
}

/**
 * What the table says, without what changes by itself or by renewal: handles, counters, and the leased elements.
 * Equal fingerprints mean that the table was not changed.
 */
export function fingerprint(objects: readonly unknown[]): string {
  return JSON.stringify(objects, (key, value: unknown) => {
    if (key === 'handle' || key === 'packets' || key === 'bytes') return undefined;
    if (
      typeof value === 'object' &&
      value !== null &&
      'name' in value &&
      (value.name === ipv4.mapped || value.name === ipv6.mapped)
    ) {
      return { ...value, elem: undefined };
    }
    return value;
  });
}

const counter = { counter: { packets: 0, bytes: 0 } };

function familiesOf(
  vips: readonly VipConfig[],
): readonly { family: IpFamily; members: readonly VipConfig[] }[] {
  const isIpv6 = (vip: VipConfig): boolean => ipVersion(vip.address) === 6;
  return [
    { family: ipv4, members: vips.filter((vip) => !isIpv6(vip)) },
    { family: ipv6, members: vips.filter(isIpv6) },
  ].filter(({ members }) => members.length > 0);
}

function destinationAddress(family: IpFamily): NftObject {
  return { payload: { protocol: family.protocol, field: 'daddr' } };
}

function match(op: '==' | '!=', left: NftObject, right: string): NftObject {
  return { match: { op, left, right } };
}

function set(name: string, type: string, elements: readonly string[]): NftCommand {
  return add({ set: { ...table, name, type, ...(elements.length === 0 ? {} : { elem: elements }) } });
}

function chain(name: string, base: { type: string; hook: string; prio: number }): NftCommand {
  return add({ chain: { ...table, name, ...base, policy: 'accept' } });
}

function rule(chainName: string, expr: readonly NftObject[]): NftCommand {
  return add({ rule: { ...table, chain: chainName, expr } });
}

function add(object: NftObject): NftCommand {
  return { add: object };
}
