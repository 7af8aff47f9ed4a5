import type { Firewall } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import { NamedTimers } from './named-timers.ts';
import { nftTables } from './nft-table.ts';

/** Changes that come together are looked at together (ms). */
const TOGETHER = 100;
/** From the end of a look to the next at least (ms): each costs some processes, and there are programs that change rules for ever. */
const GAP = 5000;

export interface FirewallWatchOptions {
  readonly read: () => Promise<Firewall>;
  readonly clock: Clock;
  /** What the chains are may have changed. */
  readonly looked: () => void;
}

/** What others filter, as of the last look. Never two looks at a time. */
export class FirewallWatch {
  readonly #options: FirewallWatchOptions;
  readonly #timers: NamedTimers<'look'>;
  #running: Promise<void> | undefined;
  #lastEnd = Number.NEGATIVE_INFINITY;
  /** Something has changed since the look that is running began. */
  #isOutdated = false;
  #isClosed = false;
  #chains: Firewall['chains'] = [];
  #warnings: readonly string[] = [];

  constructor(options: FirewallWatchOptions) {
    this.#options = options;
    this.#timers = new NamedTimers(options.clock);
  }

  /** Without ours. */
  get chains(): Firewall['chains'] {
    return this.#chains;
  }

  /** What of it could not be read at the last look, one sentence each. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** Looks soon, once for all calls until then. */
  schedule(): void {
    if (this.#running !== undefined) {
      this.#isOutdated = true;
      return;
    }
    if (this.#isClosed || this.#timers.has('look')) return;
    const elapsed = this.#options.clock.now() - this.#lastEnd;
    this.#timers.arm('look', Math.max(TOGETHER, GAP - elapsed), () => void this.look());
  }

  /** Reads it; one that is running is waited for. Rejects never. */
  async look(): Promise<void> {
    // What one was to be made for later is seen now.
    this.#timers.cancelAll();
    this.#running ??= this.#look().then(() => this.#ended());
    await this.#running;
  }

  /** No more looks; resolves when none is running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timers.cancelAll();
    await this.#running;
  }

  async #look(): Promise<void> {
    try {
      const firewall = await this.#options.read();
      this.#chains = foreignChains(firewall);
      this.#warnings = firewall.unread.filter(({ table }) => !isForRoot(table)).map(unreadText);
    } catch (error) {
      // What was read last holds.
      this.#warnings = [failureText(error)];
    }
    try {
      this.#options.looked();
    } catch (error) {
      this.#warnings = [...this.#warnings, failureText(error)];
    }
  }

  #ended(): void {
    this.#running = undefined;
    this.#lastEnd = this.#options.clock.now();
    if (this.#isOutdated) {
      this.#isOutdated = false;
      this.schedule();
    }
  }
}

/** Of iptables-legacy, which root alone may read: the daemon is another user, and `doctor` says it. */
function isForRoot(table: string): boolean {
  return /^ip6?tables-legacy\b/.test(table);
}

function unreadText({ table, problem }: Firewall['unread'][number]): string {
  return `the rules of ${table} cannot be read, and may drop packets of clients: ${problem}`;
}

function failureText(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `what filters packets of clients cannot be looked at: ${text}`;
}

/** Chains that are not the router's own. */
export function foreignChains({ chains }: Firewall): Firewall['chains'] {
  const own = nftTables.map(({ family, name }) => `${family} ${name}`);
  return chains.filter(({ table }) => !own.includes(table));
}
