import type { Nftables, NftCommand, NftObject } from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';
import type { Hold } from '../lifecycle/vip-state.ts';

/** The table of a drain: there while one goes on. */
const HOLD_FAMILY = 'inet';
export const HOLD_TABLE = 'bgp_lb_drain';

const table = { family: HOLD_FAMILY, table: HOLD_TABLE } as const;

interface IpFamily {
  readonly protocol: 'ip' | 'ip6';
  readonly type: 'ipv4_addr' | 'ipv6_addr';
  readonly suffix: '4' | '6';
}

const families: readonly IpFamily[] = [
  { protocol: 'ip', type: 'ipv4_addr', suffix: '4' },
  { protocol: 'ip6', type: 'ipv6_addr', suffix: '6' },
];

/** Flags of the TCP header (RFC 9293 section 3.1). */
const Flag = { Syn: 0x02, Rst: 0x04, Ack: 0x10 } as const;

/** Seconds after which the kernel forgets: no SYN is answered for some seconds only, and no drain lasts longer than an hour. */
const NEWCOMERS_SECONDS = 30;
const REFUSALS_SECONDS = 3_700;

/** Before the destination port is mapped, so that it is the one that clients use. */
const BEFORE_MAPPING = -160;

/**
 * Holds new connections off while this master leaves, so that none is lost in the moments between the end of its service and
 * the router's moving on: what is not answered is sent again after a second, and reaches another master. Established
 * connections are not touched. The elements have a time limit, for a speaker that is killed.
 */
export class ConnectionHold {
  readonly #nft: Pick<Nftables, 'apply' | 'deleteTable'>;
  readonly #vips: readonly VipConfig[];

  constructor(nft: Pick<Nftables, 'apply' | 'deleteTable'>, vips: readonly VipConfig[]) {
    this.#nft = nft;
    this.#vips = vips;
  }

  /** Makes the kernel do exactly this, by VIP; the table is removed when nothing is to be held. @throws NftablesError */
  apply(holds: ReadonlyMap<string, Hold>): Promise<void> {
    const held = this.#vips.filter(({ address }) => (holds.get(address) ?? 'none') !== 'none');
    if (held.length === 0) return this.#nft.deleteTable(HOLD_FAMILY, HOLD_TABLE);
    const isHeld = ({ address }: VipConfig): boolean => holds.get(address) === 'newcomers';
    return this.#nft.apply(holdCommands(held, held.filter(isHeld)));
  }
}

/** The whole table as one transaction. @param refusals VIPs whose refusals are kept back @param newcomers those that take no SYN */
function holdCommands(
  refusals: readonly VipConfig[],
  newcomers: readonly VipConfig[],
): readonly NftCommand[] {
  const name = { family: HOLD_FAMILY, name: HOLD_TABLE };
  return [
    { add: { table: name } },
    { delete: { table: name } },
    { add: { table: name } },
    chain('newcomers', 'prerouting', BEFORE_MAPPING),
    chain('refusals', 'output', 0),
    ...families.flatMap((family) => [
      set(
        `refusals${family.suffix}`,
        family.type,
        of(family, refusals),
        ({ address }) => address,
        REFUSALS_SECONDS,
      ),
      set(
        `newcomers${family.suffix}`,
        [family.type, 'inet_service'],
        of(family, newcomers),
        ({ address, port }) => ({ concat: [address, port] }),
        NEWCOMERS_SECONDS,
      ),
      rule('newcomers', [
        match({ concat: [ip(family, 'daddr'), tcp('dport')] }, `@newcomers${family.suffix}`),
        match({ '&': [tcp('flags'), Flag.Syn | Flag.Ack] }, Flag.Syn),
      ]),
      // RFC 9293 section 3.10.7.1: a reset that answers a SYN has sequence number 0 and an ACK.
      rule('refusals', [
        match(ip(family, 'saddr'), `@refusals${family.suffix}`),
        match({ '&': [tcp('flags'), Flag.Rst | Flag.Ack] }, Flag.Rst | Flag.Ack),
        match(tcp('sequence'), 0),
      ]),
    ]),
  ];
}

function of({ protocol }: IpFamily, vips: readonly VipConfig[]): readonly VipConfig[] {
  return vips.filter(({ address }) => address.includes(':') === (protocol === 'ip6'));
}

function set(
  name: string,
  type: string | readonly string[],
  vips: readonly VipConfig[],
  value: (vip: VipConfig) => unknown,
  timeout: number,
): NftCommand {
  const elem = vips.map((vip) => ({ elem: { val: value(vip), timeout } }));
  return { add: { set: { ...table, name, type, flags: ['timeout'], ...(elem.length > 0 ? { elem } : {}) } } };
}

function chain(name: string, hook: string, prio: number): NftCommand {
  return { add: { chain: { ...table, name, type: 'filter', hook, prio, policy: 'accept' } } };
}

function rule(name: string, matches: readonly NftObject[]): NftCommand {
  const counter = { counter: { packets: 0, bytes: 0 } };
  return { add: { rule: { ...table, chain: name, expr: [...matches, counter, { drop: null }] } } };
}

function ip({ protocol }: IpFamily, field: 'saddr' | 'daddr'): NftObject {
  return { payload: { protocol, field } };
}

function tcp(field: 'dport' | 'flags' | 'sequence'): NftObject {
  return { payload: { protocol: 'tcp', field } };
}

function match(left: NftObject, right: string | number): NftObject {
  return { match: { op: '==', left, right } };
}
