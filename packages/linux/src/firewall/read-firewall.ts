/** Everything of netfilter in this network namespace that may drop or mark packets, whosever it is. */
import { existsSync, readFileSync } from 'node:fs';
import { runFirewallProgram } from '../firewall-program.ts';
import { Nftables, type NftObject } from '../nftables.ts';
import { NftablesError } from '../nftables-error.ts';
import type { FirewallChain } from './firewall-rule.ts';
import { iptablesChains } from './iptables-rules.ts';
import { isFilterChain, nftChains } from './nft-rules.ts';

/** Tables of iptables-legacy that are loaded, one a line (net/netfilter/x_tables.c). */
const legacyNames = { 4: '/proc/net/ip_tables_names', 6: '/proc/net/ip6_tables_names' } as const;
/** Those that filter; `nat` sees packets too, and is not to drop any. */
const filtering = ['raw', 'mangle', 'filter', 'security'];
const timeLimit = 10_000;

export interface Firewall {
  readonly chains: readonly FirewallChain[];
  /** Tables that are there and whose rules cannot be read here, each with why. */
  readonly unread: readonly { readonly table: string; readonly problem: string }[];
}

/** Reads the rules of nftables and of both kinds of iptables. @throws NftablesError where nft does not answer */
export async function readFirewall(nft: Nftables = new Nftables()): Promise<Firewall> {
  const { chains, rules, unread: large } = await nft.tablesWith(isFilterChain);
  const unread = [...large];
  const found: FirewallChain[] = [];
  const translated = new Set<string>();
  for (const [version, program] of [
    [4, 'iptables'],
    [6, 'ip6tables'],
  ] as const) {
    const legacy = legacyTables(version);
    if (typeof legacy === 'string') unread.push({ table: `${program}-legacy`, problem: legacy });
    for (const table of typeof legacy === 'string' ? [] : legacy) {
      const name = `${program}-legacy ${table}`;
      const text = await list(`${program}-legacy`, table).catch(problemOf);
      if (typeof text === 'string') found.push(...iptablesChains(text, name, version));
      else unread.push({ table: name, problem: text.problem });
    }
    const family = version === 4 ? 'ip' : 'ip6';
    for (const table of tablesWithXtables(rules, family)) {
      const text = await list(`${program}-nft`, table).catch(problemOf);
      if (typeof text !== 'string') continue;
      // What nft shows of them says less. Without the program, or where others have put rules of nft there, that has to do.
      translated.add(`${family} ${table}`);
      found.push(...iptablesChains(text, `${family} ${table}`, version));
    }
  }
  const ofNft = nftChains(chains, rules).filter(({ table }) => !translated.has(table));
  return { chains: [...ofNft, ...found], unread };
}

/** @returns why they cannot be read, which root alone may: the daemon of the router is another user */
function legacyTables(version: 4 | 6): readonly string[] | string {
  const file = legacyNames[version];
  if (!existsSync(file)) return [];
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((name) => filtering.includes(name));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Tables of a family that iptables-nft has made, with extensions that nft does not know. */
function tablesWithXtables(rules: readonly NftObject[], family: 'ip' | 'ip6'): readonly string[] {
  const names = rules
    .filter((rule) => rule['family'] === family && filtering.includes(String(rule['table'])))
    .filter(({ expr }) => JSON.stringify(expr).includes('{"xt":'))
    .map(({ table }) => String(table));
  return [...new Set(names)];
}

/** Waits for the lock of iptables(8) for a moment. */
async function list(program: string, table: string): Promise<string> {
  const wait = program.endsWith('-legacy') ? ['-w', '2'] : [];
  return runFirewallProgram(program, [...wait, '-t', table, '-S'], undefined, timeLimit);
}

function problemOf(error: unknown): { readonly problem: string } {
  if (error instanceof NftablesError) return { problem: error.text };
  throw error;
}
