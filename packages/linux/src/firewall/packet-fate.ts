import {
  type Action,
  both,
  type Case,
  type FirewallChain,
  type FirewallHook,
  type FirewallPacket,
  type FirewallRule,
  type Marks,
  type Truth,
} from './firewall-rule.ts';

/** What the chains of a hook do with a packet. */
export interface PacketFate {
  /** `yes`: it is dropped, whatever is not known from here. */
  readonly isDropped: Truth;
  /** What drops it, or what may: `ip filter FORWARD`. */
  readonly by: readonly string[];
  /** What its firewall mark may be behind them. */
  readonly marks: Marks;
}

/** A chain calls others so deep at most (NFT_JUMP_STACK_SIZE, and more than iptables has). */
const DEEPEST = 16;

/** @param marks what its mark may be before them. Pure. */
export function packetFate(
  chains: readonly FirewallChain[],
  hook: FirewallHook,
  packet: FirewallPacket,
  marks: Marks = new Set([0]),
): PacketFate {
  const base = chains
    .filter((chain) => chain.hook === hook && (chain.version ?? packet.version) === packet.version)
    .sort((a, b) => a.priority - b.priority);
  const byName = new Map([...chains].reverse().map((chain) => [`${chain.table} ${chain.name}`, chain]));
  const maybe: string[] = [];
  let now = marks;
  for (const chain of base) {
    const walk = new Walk(byName, packet, now);
    const isDropped = walk.through(chain);
    now = walk.marks;
    const name = `${chain.table} ${chain.name}`;
    if (isDropped === 'yes') return { isDropped, by: [name], marks: now };
    if (isDropped === 'maybe') maybe.push(name);
  }
  return { isDropped: maybe.length > 0 ? 'maybe' : 'no', by: maybe, marks: now };
}

/** Ways that a packet may leave a chain, or a rule. */
interface Ends {
  readonly accepted: boolean;
  readonly dropped: boolean;
  /** It goes on behind it. */
  readonly goesOn: boolean;
}

const goesOn: Ends = { accepted: false, dropped: false, goesOn: true };

class Walk {
  /** By table and name. */
  readonly #chains: ReadonlyMap<string, FirewallChain>;
  readonly #packet: FirewallPacket;
  marks: Marks;
  /** A rule that may hold has, if so, decided already. */
  #mayBeElsewhere = false;

  constructor(chains: ReadonlyMap<string, FirewallChain>, packet: FirewallPacket, marks: Marks) {
    this.#chains = chains;
    this.#packet = packet;
    this.marks = marks;
  }

  /** Whether a base chain drops it. */
  through(chain: FirewallChain): Truth {
    const ends = this.#chain(chain, 0);
    const accepted = ends.accepted || (ends.goesOn && chain.policy === 'accept');
    const dropped = ends.dropped || (ends.goesOn && chain.policy === 'drop');
    return dropped ? (accepted ? 'maybe' : 'yes') : 'no';
  }

  #chain(chain: FirewallChain, depth: number): Ends {
    let sum = { accepted: false, dropped: false };
    let returns = false;
    for (const rule of chain.rules) {
      const { isSure, ends, leaves } = this.#rule(rule, chain, depth);
      sum = { accepted: sum.accepted || ends.accepted, dropped: sum.dropped || ends.dropped };
      if (leaves) returns = true;
      if (isSure && !ends.goesOn) return { ...sum, goesOn: returns };
    }
    return { ...sum, goesOn: true };
  }

  /** @returns `isSure`: the rule's action is done; `leaves`: the chain may be left by it with nothing decided */
  #rule(
    rule: FirewallRule,
    chain: FirewallChain,
    depth: number,
  ): { readonly isSure: boolean; readonly ends: Ends; readonly leaves: boolean } {
    let holds: Truth = 'yes';
    let sum = { accepted: false, dropped: false };
    let leaves = false;
    for (const part of rule) {
      if (typeof part === 'function') {
        holds = both(holds, part(this.#packet, this.marks));
        if (holds === 'no') break;
        continue;
      }
      const { ends, returns } = this.#action(part, holds, chain, depth);
      sum = { accepted: sum.accepted || ends.accepted, dropped: sum.dropped || ends.dropped };
      leaves ||= returns;
      if (holds === 'maybe' && (!ends.goesOn || returns)) this.#mayBeElsewhere = true;
      if (!ends.goesOn) return { isSure: holds === 'yes', ends: { ...sum, goesOn: false }, leaves };
    }
    return { isSure: false, ends: { ...sum, goesOn: true }, leaves };
  }

  #action(
    action: Action,
    holds: Truth,
    chain: FirewallChain,
    depth: number,
  ): { readonly ends: Ends; readonly returns: boolean } {
    switch (action.kind) {
      case 'accept':
        return { ends: { accepted: true, dropped: false, goesOn: false }, returns: false };
      case 'drop':
        return { ends: { accepted: false, dropped: true, goesOn: false }, returns: false };
      case 'return':
        return { ends: { accepted: false, dropped: false, goesOn: false }, returns: true };
      case 'mark':
        this.#mark(action.mark, holds);
        return { ends: goesOn, returns: false };
      case 'jump':
      case 'goto': {
        const target = this.#chains.get(`${chain.table} ${action.chain}`);
        if (target === undefined || depth >= DEEPEST) return this.#unknown();
        const before = this.marks;
        const ends = this.#chain(target, depth + 1);
        if (holds !== 'yes') this.marks = eitherOf(before, this.marks);
        // The chain that a packet went to for good is left where this one would be.
        return action.kind === 'jump' || !ends.goesOn
          ? { ends, returns: false }
          : { ends: { ...ends, goesOn: false }, returns: true };
      }
      case 'cases':
        return this.#cases(action.cases, holds, chain, depth);
      case 'unknown':
        return this.#unknown();
    }
  }

  #cases(
    cases: readonly Case[],
    holds: Truth,
    chain: FirewallChain,
    depth: number,
  ): { readonly ends: Ends; readonly returns: boolean } {
    let sum = { accepted: false, dropped: false };
    let returns = false;
    for (const { condition, action } of cases) {
      const isIt = both(holds, condition(this.#packet, this.marks));
      if (isIt === 'no') continue;
      const done = this.#action(action, isIt, chain, depth);
      const { ends } = done;
      sum = { accepted: sum.accepted || ends.accepted, dropped: sum.dropped || ends.dropped };
      returns ||= done.returns;
      if (isIt === 'yes') return { ends: { ...sum, goesOn: ends.goesOn }, returns };
    }
    return { ends: { ...sum, goesOn: true }, returns };
  }

  #unknown(): { readonly ends: Ends; readonly returns: boolean } {
    this.marks = 'any';
    return { ends: { accepted: true, dropped: true, goesOn: true }, returns: true };
  }

  #mark(mark: number | undefined, holds: Truth): void {
    const marks = mark === undefined ? 'any' : new Set([mark]);
    // Where it may have gone another way before, it may have kept the mark that it had.
    this.marks = holds === 'yes' && !this.#mayBeElsewhere ? marks : eitherOf(this.marks, marks);
  }
}

function eitherOf(one: Marks, other: Marks): Marks {
  return one === 'any' || other === 'any' ? 'any' : new Set([...one, ...other]);
}
