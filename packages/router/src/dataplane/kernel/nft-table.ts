import { createHash } from 'node:crypto';
import { ipVersion, parseIpAddress } from '@bgp-lb/protocol';

/** The name of the router's nft tables: the filter (`inet`), and the copies of ICMP errors (`ip` and `ip6`). */
export const NFT_TABLE: string = 'bgp_lb_router';
/** Those that count what clients send (`ip` and `ip6`). */
export const EVIDENCE_TABLE: string = 'bgp_lb_evidence';

/** Every table of ours. */
export const nftTables: readonly { readonly family: NftTable['family']; readonly name: string }[] = [
  ...(['inet', 'ip', 'ip6'] as const).map((family) => ({ family, name: NFT_TABLE })),
  ...(['ip', 'ip6'] as const).map((family) => ({ family, name: EVIDENCE_TABLE })),
];

/** A VIP as the filter sees it. */
export interface FilteredVip {
  /** Address without length. */
  readonly address: string;
  readonly port: number;
}

export interface NftTableOptions {
  readonly vips: readonly FilteredVip[];
  /** The mark that answers to health probes are looked up with. */
  readonly replyMark: number;
  /**
   * True to reset new connections to a VIP that has no route but the floor. Only where the VIPs are in the main table:
   * the lookup in nft does not know the interface that a packet came from, which rules of other tables may ask for.
   */
  readonly refuseUnrouted: boolean;
  /** True when connection tracking is loaded: VIP packets are then exempt from it. */
  readonly notrack: boolean;
}

/** An object of nft's JSON schema (libnftables-json(5)): `{"rule": {...}}`. */
export type NftJson = Readonly<Record<string, unknown>>;

interface NftRule {
  readonly expression: readonly NftJson[];
  /** What the rule means besides what its expression says: nft keeps the number of an interface, and shows its name. */
  readonly meaning?: string;
}

interface NftChain {
  readonly name: string;
  readonly hook: 'prerouting' | 'forward' | 'output';
  readonly priority: number;
  readonly rules: readonly NftRule[];
}

/** A set that packets fill. */
interface NftSet {
  readonly name: string;
  /** Types of the fields, as nft names them. */
  readonly type: readonly string[];
  /** The most elements. */
  readonly size: number;
  /** Seconds after which an element is gone that no packet has touched. */
  readonly timeout: number;
}

/** A table of ours as it should be. */
export interface NftTable {
  readonly family: 'inet' | 'ip' | 'ip6';
  /** Default: `NFT_TABLE`. */
  readonly name?: string;
  /** That packets fill; made with the table, and without elements. */
  readonly sets?: readonly NftSet[];
  readonly chains: readonly NftChain[];
}

/**
 * The filter. In `forward` only VIP:port and ICMP pass towards a VIP (invariant 9);
 * the rest is refused at once, since a drop would make clients wait. In `prerouting` answers of a VIP to this host
 * (health probes: nothing else here talks from there) get a mark that rp_filter can look the VIP up with, and what
 * is only passing through is exempt from connection tracking: with direct return it sees half of each connection.
 * New connections to a VIP without members are reset there too. In `output` redirects for a VIP are dropped: clients that took one
 * would send past this host, to one member and also after its death. IPv4 has a setting for that, IPv6 has none. In `segments` the
 * segment size that a new connection asks for is held down to what the links of this host carry: an overlay's carry less.
 */
export function filterTable(options: NftTableOptions): NftTable {
  const rules = (make: (vip: FilteredVip) => NftJson[][]): NftRule[] =>
    options.vips.flatMap(make).map((expression) => ({ expression }));
  return {
    family: 'inet',
    chains: [
      {
        name: 'prerouting',
        hook: 'prerouting',
        priority: RAW_PRIORITY,
        rules: rules((vip) => prerouting(vip, options)),
      },
      { name: 'segments', hook: 'forward', priority: MANGLE_PRIORITY, rules: rules(segments) },
      { name: 'redirects', hook: 'output', priority: FILTER_PRIORITY, rules: rules(redirects) },
      { name: 'forward', hook: 'forward', priority: FILTER_PRIORITY, rules: rules(forward) },
    ],
  };
}

/** One transaction that makes a table again. */
export function nftCommands({ family, name: tableName = NFT_TABLE, sets = [], chains }: NftTable): NftJson[] {
  const table = { family, name: tableName };
  const base = { family, table: tableName };
  const commands: NftJson[] = [{ add: { table } }, { delete: { table } }, { add: { table } }];
  for (const set of sets) commands.push({ add: { set: { ...base, ...set, flags: ['timeout'] } } });
  for (const { name, hook, priority, rules } of chains) {
    commands.push({
      add: {
        chain: { ...base, name, type: 'filter', hook, prio: priority, policy: 'accept' },
      },
    });
    for (const [i, rule] of rules.entries()) {
      commands.push({
        add: { rule: { ...base, chain: name, expr: rule.expression, comment: ruleComment(i, rule) } },
      });
    }
  }
  return commands;
}

/**
 * In what the listing of a table (`nft -j list table`) is not what `nftCommands` makes, a sentence each; with the rule where it is
 * about one. Rules are compared by their comments, which carry a digest of what was asked for: nft writes expressions differently
 * than it reads them.
 */
export function tableFaults(
  listed: readonly NftJson[],
  { sets = [], chains: wanted }: NftTable,
): readonly TableFault[] {
  const chains = listed.flatMap((object) => (isRecord(object['chain']) ? [object['chain']] : []));
  const rules = listed.flatMap((object) => (isRecord(object['rule']) ? [object['rule']] : []));
  const foreign = chains.filter(({ name }) => !wanted.some((chain) => chain.name === name));
  return [
    ...foreign.map(({ name }) => ({ text: `chain ${String(name)}: not wanted` })),
    ...sets.flatMap((set) => setFaults(set, listed)),
    ...wanted.flatMap((chain) => {
      const there = chains.find((candidate) => candidate['name'] === chain.name);
      const comments = rules.filter((rule) => rule['chain'] === chain.name).map((rule) => rule['comment']);
      return there === undefined
        ? [{ text: `chain ${chain.name}: missing` }]
        : [...hookFaults(chain, there), ...ruleFaults(chain, comments)];
    }),
  ];
}

/** A fault of a table, and the rule that it is about. */
export interface TableFault {
  readonly text: string;
  readonly rule?: readonly NftJson[];
}

function setFaults(wanted: NftSet, listed: readonly NftJson[]): readonly TableFault[] {
  const there = listed
    .flatMap(({ set }) => (isRecord(set) ? [set] : []))
    .find(({ name }) => name === wanted.name);
  if (there === undefined) return [{ text: `set ${wanted.name}: missing` }];
  const isAsWanted = (['type', 'size', 'timeout'] as const).every(
    (key) => JSON.stringify(there[key]) === JSON.stringify(wanted[key]),
  );
  return isAsWanted ? [] : [{ text: `set ${wanted.name}: of another kind` }];
}

function hookFaults(chain: NftChain, there: NftJson): readonly TableFault[] {
  const { hook, prio, policy } = there;
  const isAsWanted = hook === chain.hook && prio === chain.priority && policy === 'accept';
  const has = `hook ${String(hook)} priority ${String(prio)} policy ${String(policy)}`;
  const wanted = `hook ${chain.hook} priority ${chain.priority} policy accept`;
  return isAsWanted ? [] : [{ text: `chain ${chain.name}: the kernel has ${has}; wanted ${wanted}` }];
}

function ruleFaults({ name, rules }: NftChain, comments: readonly unknown[]): readonly TableFault[] {
  const wanted = rules.map((rule, i) => ruleComment(i, rule));
  const missing = rules.flatMap(({ expression }, i) =>
    comments.includes(wanted[i])
      ? []
      : [{ text: `chain ${name}: rule ${i + 1} of ${rules.length} is missing`, rule: expression }],
  );
  const foreign = comments.filter((comment) => !wanted.some((one) => one === comment)).length;
  const faults = [
    ...missing,
    ...(foreign === 0 ? [] : [{ text: `chain ${name}: rules that are not wanted: ${foreign}` }]),
  ];
  const isInOrder = comments.length === wanted.length && wanted.every((one, i) => comments[i] === one);
  return faults.length === 0 && !isInOrder
    ? [{ text: `chain ${name}: its rules are in another order, or there twice` }]
    : faults;
}

/** NF_IP_PRI_RAW and NF_IP_PRI_FILTER (linux/netfilter_ipv4.h). */
export const RAW_PRIORITY: number = -300;
const FILTER_PRIORITY = 0;
/** NF_IP_PRI_MANGLE. */
const MANGLE_PRIORITY = -150;

function prerouting(vip: FilteredVip, options: NftTableOptions): NftJson[][] {
  const toThisHost = (op: '==' | '!='): NftJson =>
    match({ fib: { result: 'type', flags: ['daddr'] } }, 'local', op);
  const mark = [
    addressIs(vip, 'saddr'),
    match({ payload: { protocol: 'tcp', field: 'sport' } }, vip.port),
    toThisHost('=='),
    { mangle: { key: { meta: { key: 'mark' } }, value: options.replyMark } },
  ];
  // The floor's ICMP errors are few (icmp_ratelimit): where connections wait for members to come back, they would use
  // them up, and new ones would hang. A reset is not limited, and only new ones get it.
  const refuse = [
    addressIs(vip, 'daddr'),
    match({ payload: { protocol: 'tcp', field: 'dport' } }, vip.port),
    match({ '&': [{ payload: { protocol: 'tcp', field: 'flags' } }, { '|': ['syn', 'ack'] }] }, 'syn'),
    // `fib daddr oif missing`: the lookup ends at the floor. (`fib type` knows the local table only.)
    match({ fib: { result: 'oif', flags: ['daddr'] } }, false),
    { counter: null },
    { reject: { type: 'tcp reset' } },
  ];
  const always = options.refuseUnrouted ? [mark, refuse] : [mark];
  if (!options.notrack) {
    return always;
  }
  // Answers to our own probes stay tracked: a host firewall may rest on `ct state established`.
  return [
    ...always,
    [addressIs(vip, 'daddr'), { notrack: null }],
    [addressIs(vip, 'saddr'), toThisHost('!='), { notrack: null }],
  ];
}

/** `set` of a TCP option never makes it larger (nft_exthdr.c). `rt mtu` is that of the way there, or of the way back if that is less. */
function segments(vip: FilteredVip): NftJson[][] {
  const flags = { payload: { protocol: 'tcp', field: 'flags' } };
  const isNew = match({ '&': [flags, { '|': ['syn', 'rst'] }] }, 'syn');
  const hold = { mangle: { key: { 'tcp option': { name: 'maxseg', field: 'size' } }, value: RT_MTU } };
  // Answers only pass here where a master has this host as its gateway.
  return (['daddr', 'saddr'] as const).map((field) => [addressIs(vip, field), isNew, hold]);
}

const RT_MTU = { rt: { key: 'mtu' } };

function forward(vip: FilteredVip): NftJson[][] {
  const towards = addressIs(vip, 'daddr');
  const icmp = ipVersion(vip.address) === 6 ? 'icmpv6' : 'icmp';
  const protocol = { meta: { key: 'l4proto' } };
  return [
    [towards, match({ payload: { protocol: 'tcp', field: 'dport' } }, vip.port), { accept: null }],
    [towards, match(protocol, icmp), { accept: null }],
    [towards, match(protocol, 'tcp'), { counter: null }, { reject: { type: 'tcp reset' } }],
    [towards, { counter: null }, { reject: { type: 'icmpx', expr: 'admin-prohibited' } }],
  ];
}

/** Where a redirect names the destination that it is about, in bits: RFC 792 (in the header of the packet that it repeats), RFC 4861 section 8. */
const REDIRECTED = 192;

function redirects(vip: FilteredVip): NftJson[][] {
  const isIpv6 = ipVersion(vip.address) === 6;
  const { bytes } = parseIpAddress(vip.address);
  const destination = { payload: { base: 'th', offset: REDIRECTED, len: bytes.length * 8 } };
  return [
    [
      match(
        { payload: { protocol: isIpv6 ? 'icmpv6' : 'icmp', field: 'type' } },
        isIpv6 ? 'nd-redirect' : 'redirect',
      ),
      match(destination, `0x${Buffer.from(bytes).toString('hex')}`),
      { counter: null },
      { drop: null },
    ],
  ];
}

/** The source or destination is the VIP. */
export function addressIs(vip: Pick<FilteredVip, 'address'>, field: 'saddr' | 'daddr'): NftJson {
  const protocol = ipVersion(vip.address) === 6 ? 'ip6' : 'ip';
  return match({ payload: { protocol, field } }, vip.address);
}

/** A comparison of nft's. */
export function match(left: NftJson, right: string | number | boolean, op: '==' | '!=' = '=='): NftJson {
  return { match: { op, left, right } };
}

function ruleComment(index: number, { expression, meaning = '' }: NftRule): string {
  const text = JSON.stringify(expression) + meaning;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  return `bgp-lb ${index} ${digest}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
