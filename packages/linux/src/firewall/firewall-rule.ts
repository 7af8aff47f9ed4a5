/** Rules of netfilter in the form that both nft and iptables are read into. */

/** Whether something holds for a packet; `maybe` where only the packet itself would tell. */
export type Truth = 'yes' | 'no' | 'maybe';

/** The hooks of a packet's way (netfilter_ipv4.h). */
export type FirewallHook = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** A TCP packet that begins a connection, of which connection tracking knows nothing yet, or an answer to one. */
export interface FirewallPacket {
  readonly version: 4 | 6;
  /** Names of the interfaces that it comes and leaves by; undefined where it has none at that hook. */
  readonly input?: string;
  readonly output?: string;
  /** Undefined: any. */
  readonly source?: string;
  readonly destination?: string;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly isAnswer?: boolean;
}

/** The firewall mark of a packet, as far as it is known: one of these, or any. */
export type Marks = ReadonlySet<number> | 'any';

/** What a rule asks of a packet. */
export type Condition = (packet: FirewallPacket, marks: Marks) => Truth;

/** What a rule does with a packet. */
export type Action =
  | { readonly kind: 'accept' | 'drop' | 'return' }
  | { readonly kind: 'jump' | 'goto'; readonly chain: string }
  /** Undefined: a mark that is not known from here. */
  | { readonly kind: 'mark'; readonly mark: number | undefined }
  /** The first of these that holds is done. */
  | { readonly kind: 'cases'; readonly cases: readonly Case[] }
  /** What it does is not known from here. */
  | { readonly kind: 'unknown' };

export interface Case {
  readonly condition: Condition;
  readonly action: Action;
}

/** What decides and changes nothing. */
export const noAction: Action = { kind: 'cases', cases: [] };

/** The parts of a rule in their order: an action is done where all conditions before it hold. */
export type FirewallRule = readonly (Condition | Action)[];

export interface FirewallChain {
  /** Of packets that it sees; undefined for both. */
  readonly version: 4 | 6 | undefined;
  /** What it is found by: `ip filter`, `iptables-legacy filter`. */
  readonly table: string;
  readonly name: string;
  /** Of a base chain that filters. */
  readonly hook: FirewallHook | undefined;
  readonly priority: number;
  /** What becomes of packets that no rule decides over. */
  readonly policy: 'accept' | 'drop';
  readonly rules: readonly FirewallRule[];
}

export function not(truth: Truth): Truth {
  return truth === 'maybe' ? 'maybe' : truth === 'yes' ? 'no' : 'yes';
}

export function both(a: Truth, b: Truth): Truth {
  if (a === 'no' || b === 'no') return 'no';
  return a === 'yes' && b === 'yes' ? 'yes' : 'maybe';
}

/** Connection tracking says that the first packet is `new`, and an answer `established`; where they are exempt, both are `untracked`. */
export function trackedAs({ isAnswer = false }: FirewallPacket, states: readonly string[]): Truth {
  const named = [isAnswer ? 'established' : 'new', 'untracked'].filter((state) => states.includes(state));
  return named.length === 2 ? 'yes' : named.length === 1 ? 'maybe' : 'no';
}

/** @param marks what the packet's mark may be */
export function isMarked(marks: Marks, mark: number, mask: number = 0xffff_ffff): Truth {
  if (marks === 'any') return 'maybe';
  const fits = [...marks].filter((one) => (one & mask) >>> 0 === mark >>> 0);
  return fits.length === 0 ? 'no' : fits.length === marks.size ? 'yes' : 'maybe';
}

/** @param pattern a name, or the beginning of names and `*` or `+` */
export function isInterface(name: string | undefined, pattern: string): Truth {
  if (name === undefined) return 'no';
  const fits = /[*+]$/.test(pattern) ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  return fits ? 'yes' : 'no';
}
