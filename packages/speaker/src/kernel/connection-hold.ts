import {
  NetlinkError,
  type Nftables,
  type NftCommand,
  type NftElements,
  type NftObject,
  type SetElements,
} from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { VipConfig } from '../config/speaker-config.ts';
import type { Hold } from '../lifecycle/vip-state.ts';

/** The table of a drain: there from the start on, with sets that are empty but during a drain. */
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

/** Milliseconds after which the kernel forgets: no SYN is answered for some seconds only, and no drain lasts longer than an hour. */
const NEWCOMERS_TIME = 30_000;
const REFUSALS_TIME = 3_700_000;

/** Before the destination port is mapped, so that it is the one that clients use. */
const BEFORE_MAPPING = -160;

export interface ConnectionHoldOptions {
  readonly nft: Pick<Nftables, 'apply' | 'table'>;
  /** `NftElements` of @bgp-lb/linux. */
  readonly elements: Pick<NftElements, 'replace'>;
  readonly vips: readonly VipConfig[];
  /** The table was missing, and has been made again. One phrase. */
  readonly repaired: (what: string) => void;
}

/**
 * Holds new connections off while this master leaves, so that none is lost in the moments between the end of its service and
 * the router's moving on: what is not answered is sent again after a second, and reaches another master. Established
 * connections are not touched. The elements have a time limit, for a speaker that is killed.
 *
 * The table is made beforehand. A drain changes elements only, which takes no run of nft: a master without clients would
 * wait for nothing else before it withdraws.
 */
export class ConnectionHold {
  readonly #options: ConnectionHoldOptions;
  #elements: readonly SetElements[] = [];
  #isTableMade = false;
  #queue: Promise<void> = Promise.resolve();

  constructor(options: ConnectionHoldOptions) {
    this.#options = options;
  }

  /** Makes the kernel do exactly this, by VIP. The first call makes the table. @throws NftablesError */
  apply(holds: ReadonlyMap<string, Hold>): Promise<void> {
    this.#elements = elementsOf(this.#options.vips, holds);
    return this.#enqueue(() => this.#settle());
  }

  /** Makes the table again when it has been deleted, with what is held now. @throws NftablesError */
  repair(): Promise<void> {
    return this.#enqueue(async () => {
      const { nft, repaired } = this.#options;
      if (!this.#isTableMade || (await nft.table(HOLD_FAMILY, HOLD_TABLE)) !== undefined) return;
      await this.#makeTable();
      repaired(`made the table ${HOLD_FAMILY} ${HOLD_TABLE} again, which was missing`);
    });
  }

  async #settle(): Promise<void> {
    if (this.#isTableMade && this.#replaceElements()) return;
    await this.#makeTable();
  }

  /** @returns false when the table is to be made first */
  #replaceElements(): boolean {
    try {
      this.#options.elements.replace(HOLD_FAMILY, HOLD_TABLE, this.#elements);
      return true;
    } catch (error) {
      // nft has the last word, and the better one about what is wrong.
      if (error instanceof NetlinkError) return false;
      throw error;
    }
  }

  async #makeTable(): Promise<void> {
    await this.#options.nft.apply(tableCommands(this.#elements));
    this.#isTableMade = true;
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    const run = this.#queue.then(work);
    this.#queue = run.catch(() => undefined);
    return run;
  }
}

/** What each set is to have. */
function elementsOf(vips: readonly VipConfig[], holds: ReadonlyMap<string, Hold>): readonly SetElements[] {
  return families.flatMap((family) => {
    const own = vips.filter(({ address }) => (ipVersion(address) === 6) === (family.protocol === 'ip6'));
    const held = own.filter(({ address }) => (holds.get(address) ?? 'none') !== 'none');
    const closed = held.filter(({ address }) => holds.get(address) === 'newcomers');
    return [
      {
        set: refusalsOf(family),
        elements: held.map(({ address }) => ({ key: [address], timeout: REFUSALS_TIME })),
      },
      {
        set: newcomersOf(family),
        elements: closed.map(({ address, port }) => ({ key: [address, port], timeout: NEWCOMERS_TIME })),
      },
    ];
  });
}

/** The whole table as one transaction. */
function tableCommands(elements: readonly SetElements[]): readonly NftCommand[] {
  const name = { family: HOLD_FAMILY, name: HOLD_TABLE };
  return [
    { add: { table: name } },
    { delete: { table: name } },
    { add: { table: name } },
    chain('newcomers', 'prerouting', BEFORE_MAPPING),
    chain('refusals', 'output', 0),
    ...families.flatMap((family) => [
      set(refusalsOf(family), family.type),
      set(newcomersOf(family), [family.type, 'inet_service']),
      rule('newcomers', [
        match({ concat: [ip(family, 'daddr'), tcp('dport')] }, `@${newcomersOf(family)}`),
        match({ '&': [tcp('flags'), Flag.Syn | Flag.Ack] }, Flag.Syn),
      ]),
      // RFC 9293 section 3.10.7.1: a reset that answers a SYN has sequence number 0 and an ACK.
      rule('refusals', [
        match(ip(family, 'saddr'), `@${refusalsOf(family)}`),
        match({ '&': [tcp('flags'), Flag.Rst | Flag.Ack] }, Flag.Rst | Flag.Ack),
        match(tcp('sequence'), 0),
      ]),
    ]),
    ...elements.flatMap(elementCommands),
  ];
}

/** VIPs whose refusals are kept back. */
function refusalsOf({ suffix }: IpFamily): string {
  return `refusals${suffix}`;
}

/** VIPs and ports that take no SYN. */
function newcomersOf({ suffix }: IpFamily): string {
  return `newcomers${suffix}`;
}

function elementCommands({ set: name, elements }: SetElements): readonly NftCommand[] {
  if (elements.length === 0) return [];
  const elem = elements.map(({ key, timeout }) => ({
    elem: { val: key.length === 1 ? key[0] : { concat: key }, timeout: timeout / 1000 },
  }));
  return [{ add: { element: { ...table, name, elem } } }];
}

function set(name: string, type: string | readonly string[]): NftCommand {
  return { add: { set: { ...table, name, type, flags: ['timeout'] } } };
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
