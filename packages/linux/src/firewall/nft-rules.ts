/** Rules of nftables, of what `nft -j list table` says (libnftables-json(5)). */
import type { NftObject } from '../nftables.ts';
import { isBetween, isInPrefix } from './address-range.ts';
import {
  type Action,
  type Condition,
  type FirewallChain,
  type FirewallHook,
  type FirewallPacket,
  type FirewallRule,
  isInterface,
  isMarked,
  type Marks,
  noAction,
  not,
  type Truth,
  trackedAs,
} from './firewall-rule.ts';

const hooks: readonly FirewallHook[] = ['prerouting', 'input', 'forward', 'output', 'postrouting'];

/**
 * Chains of the tables that filter routed packets, with their rules. What a rule means that is not known here is `maybe`, or `unknown`.
 * Looks at each chain and rule once or twice, however many there are.
 */
export function nftChains(
  chains: readonly NftObject[],
  rules: readonly NftObject[],
): readonly FirewallChain[] {
  const filtering = new Set(chains.filter(isFilterChain).map(tableOf));
  const rulesOf = new Map<string, NftObject[]>();
  for (const rule of rules) {
    const table = tableOf(rule);
    if (!filtering.has(table)) continue;
    const chain = keyOf(table, rule['chain']);
    const known = rulesOf.get(chain);
    if (known === undefined) rulesOf.set(chain, [rule]);
    else known.push(rule);
  }
  return chains.flatMap((chain) => {
    const table = tableOf(chain);
    if (!filtering.has(table)) return [];
    const { family, name, hook, prio, policy } = chain;
    return [
      {
        version: family === 'inet' ? undefined : family === 'ip' ? (4 as const) : (6 as const),
        table,
        name: String(name),
        hook: isFilterChain(chain) ? hooks.find((one) => one === hook) : undefined,
        priority: typeof prio === 'number' ? prio : 0,
        policy: policy === 'drop' ? ('drop' as const) : ('accept' as const),
        rules: (rulesOf.get(keyOf(table, name)) ?? []).map(nftRule),
      },
    ];
  });
}

const families: readonly unknown[] = ['ip', 'ip6', 'inet'];

/**
 * Whether a chain is one that routed packets pass, and that is to filter them. Chains of type nat see the first packet as well; they
 * are not to filter (nft(8)).
 */
export function isFilterChain({ family, type, hook }: NftObject): boolean {
  return families.includes(family) && (type === 'filter' || type === 'route') && hook !== undefined;
}

function tableOf({ family, table }: NftObject): string {
  return `${String(family)} ${String(table)}`;
}

/** No name has that octet in it, as it ends one in netlink(7). */
function keyOf(table: string, chain: unknown): string {
  return `${table}\0${String(chain)}`;
}

function nftRule({ expr }: NftObject): FirewallRule {
  return listOf(expr).flatMap((statement) => {
    const [kind, content] = Object.entries(isObject(statement) ? statement : {})[0] ?? [];
    return kind === undefined ? [] : partsOf(kind, content);
  });
}

/** Statements that decide nothing, and change nothing that is asked for here. */
const WITHOUT_EFFECT = new Set([
  'counter',
  'log',
  'notrack',
  'set',
  'map',
  'comment',
  'flow',
  'dup',
  'ct helper',
  'ct timeout',
  'secmark',
  'last',
]);
/** Targets of iptables that do the same. */
const TARGETS_WITHOUT_EFFECT = new Set(['LOG', 'NFLOG', 'TCPMSS', 'CT', 'TRACE', 'CHECKSUM', 'TOS', 'DSCP']);

function partsOf(kind: string, content: unknown): FirewallRule {
  const fields = isObject(content) ? content : {};
  if (WITHOUT_EFFECT.has(kind)) return [];
  switch (kind) {
    case 'match':
      return [conditionOf(fields)];
    case 'accept':
    case 'drop':
    case 'return':
      return [{ kind }];
    case 'reject':
      return [{ kind: 'drop' }];
    case 'jump':
    case 'goto':
      return [{ kind, chain: String(fields['target']) }];
    case 'vmap':
      return verdictMap(fields);
    case 'mangle':
      return mangled(fields);
    case 'limit':
    case 'quota':
    case 'ct count':
    case 'meter':
      return [() => 'maybe'];
    case 'xt':
      return [xtables(fields)];
    default:
      return [{ kind: 'unknown' }];
  }
}

/** nft names an extension of iptables and says nothing of what it asks for. */
function xtables({ type, name }: NftObject): Condition | Action {
  if (type === 'match') return name === 'comment' ? () => 'yes' : () => 'maybe';
  if (name === 'REJECT') return { kind: 'drop' };
  if (name === 'MARK' || name === 'CONNMARK') return { kind: 'mark', mark: undefined };
  return typeof name === 'string' && TARGETS_WITHOUT_EFFECT.has(name) ? noAction : { kind: 'unknown' };
}

function mangled({ key, value }: NftObject): FirewallRule {
  const meta = isObject(key) && isObject(key['meta']) ? key['meta'] : {};
  if (meta['key'] !== 'mark') return [];
  return [{ kind: 'mark', mark: typeof value === 'number' ? value : undefined }];
}

/** `ct state vmap { established : accept, new : jump inbound }`. */
function verdictMap({ key, data }: NftObject): FirewallRule {
  const left = isObject(key) ? key : {};
  const named = isObject(data) ? data['set'] : undefined;
  if (!Array.isArray(named)) return [{ kind: 'unknown' }];
  const cases = named.flatMap((pair) => {
    const [value, verdict] = listOf(pair);
    const [kind, content] = Object.entries(isObject(verdict) ? verdict : {})[0] ?? ['', undefined];
    const action = partsOf(kind, content)[0];
    return isAction(action) ? [{ condition: comparison(left, value), action }] : [];
  });
  return [{ kind: 'cases', cases }];
}

function isAction(part: FirewallRule[number] | undefined): part is Action {
  return part !== undefined && typeof part !== 'function';
}

function anyOf(truths: readonly Truth[]): Truth {
  if (truths.includes('yes')) return 'yes';
  return truths.includes('maybe') ? 'maybe' : 'no';
}

function conditionOf({ op, left, right }: NftObject): Condition {
  if (!isObject(left) || (op !== '==' && op !== '!=' && op !== 'in')) return () => 'maybe';
  const holds = comparison(left, right);
  return op === '!=' ? (packet, marks) => not(holds(packet, marks)) : holds;
}

/** Whether what `left` names is `right`, or one of it. */
function comparison(left: NftObject, right: unknown): Condition {
  const [kind = '', content] = Object.entries(left)[0] ?? [];
  const field = isObject(content) ? content : {};
  if (kind === 'ct' && field['key'] === 'state') return (packet) => trackedAs(packet, texts(right));
  // What is exempt from tracking, or has just begun, was given no other address.
  if (kind === 'ct' && field['key'] === 'status') return () => 'no';
  const single = singleComparison(kind, field);
  if (single === undefined) return () => 'maybe';
  const members = isObject(right) && Array.isArray(right['set']) ? right['set'] : listOrOne(right);
  return (packet, marks) => anyOf(members.map((one) => single(packet, marks, one)));
}

type Comparison = (packet: FirewallPacket, marks: Marks, value: unknown) => Truth;

function singleComparison(kind: string, field: NftObject): Comparison | undefined {
  const { key, protocol, field: name } = field;
  switch (kind) {
    case 'meta':
      return metaComparisons[String(key)];
    case 'payload':
      return payloadComparison(String(protocol), String(name));
    default:
      return undefined;
  }
}

const isNamed =
  (side: 'input' | 'output'): Comparison =>
  (packet, _, value) =>
    typeof value === 'string' && !value.startsWith('@') ? isInterface(packet[side], value) : 'maybe';

const metaComparisons: Readonly<Record<string, Comparison>> = {
  iif: isNamed('input'),
  iifname: isNamed('input'),
  oif: isNamed('output'),
  oifname: isNamed('output'),
  l4proto: (_, __, value) => equal(value, ['tcp', 6]),
  nfproto: ({ version }, _, value) => equal(value, version === 4 ? ['ipv4', 2] : ['ipv6', 10]),
  protocol: ({ version }, _, value) => equal(value, version === 4 ? ['ip', 0x0800] : ['ip6', 0x86dd]),
  mark: (_, marks, value) => (typeof value === 'number' ? isMarked(marks, value) : 'maybe'),
};

function payloadComparison(protocol: string, field: string): Comparison | undefined {
  if (protocol === 'ip' || protocol === 'ip6') {
    const inner = ipComparison(field);
    return (packet, marks, value) =>
      (protocol === 'ip') === (packet.version === 4) ? inner(packet, marks, value) : 'no';
  }
  if (['udp', 'udplite', 'sctp', 'dccp', 'icmp', 'icmpv6', 'ah', 'esp', 'comp', 'igmp'].includes(protocol)) {
    return () => 'no';
  }
  if (protocol !== 'tcp' && protocol !== 'th') return undefined;
  if (field === 'dport') return (packet, _, value) => portIs(packet.destinationPort, value);
  if (field === 'sport') return (packet, _, value) => portIs(packet.sourcePort, value);
  return undefined;
}

function ipComparison(field: string): Comparison {
  switch (field) {
    case 'daddr':
      return (packet, _, value) => addressIs(packet.destination, value);
    case 'saddr':
      return (packet, _, value) => addressIs(packet.source, value);
    case 'protocol':
    case 'nexthdr':
      return (_, __, value) => equal(value, ['tcp', 6]);
    default:
      return () => 'maybe';
  }
}

function addressIs(address: string | undefined, value: unknown): Truth {
  if (typeof value === 'string') {
    return isAddress(value) ? isInPrefix(address, value, value.includes(':') ? 128 : 32) : 'maybe';
  }
  const { prefix, range } = isObject(value) ? value : {};
  if (isObject(prefix) && typeof prefix['addr'] === 'string' && isAddress(prefix['addr'])) {
    return isInPrefix(address, prefix['addr'], Number(prefix['len']));
  }
  const [first, last] = listOf(range);
  return typeof first === 'string' && typeof last === 'string' && isAddress(first) && isAddress(last)
    ? isBetween(address, first, last)
    : 'maybe';
}

const isAddress = (text: string): boolean => /^[0-9a-f:.]+$/i.test(text);

function portIs(port: number | undefined, value: unknown): Truth {
  if (port === undefined) return 'maybe';
  if (typeof value === 'number') return value === port ? 'yes' : 'no';
  const [first, last] = listOf(isObject(value) ? value['range'] : undefined);
  if (typeof first !== 'number' || typeof last !== 'number') return 'maybe';
  return first <= port && port <= last ? 'yes' : 'no';
}

/** A name that is not known here, or a set by its name, may be equal. */
function equal(value: unknown, same: readonly (string | number)[]): Truth {
  if (same.some((one) => one === value)) return 'yes';
  const isPlain = typeof value === 'number' || (typeof value === 'string' && !value.startsWith('@'));
  return isPlain ? 'no' : 'maybe';
}

function texts(value: unknown): readonly string[] {
  const members = isObject(value) && Array.isArray(value['set']) ? value['set'] : listOrOne(value);
  return members.filter((one) => typeof one === 'string');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function listOrOne(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isObject(value: unknown): value is NftObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
