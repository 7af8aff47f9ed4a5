import { type Firewall, NftablesError } from '@bgp-lb/linux';
import type { Clock } from '@bgp-lb/protocol/node';
import { NamedTimers } from './named-timers.ts';
import { nftTables } from './nft-table.ts';

/** Changes that come together are looked at together (ms). */
const TOGETHER = 100;
/** Two looks are at least so far apart (ms): each costs some processes, and there are programs that change rules for ever. */
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
  #lastLook = Number.NEGATIVE_INFINITY;
  #chains: Firewall['chains'] = [];

  constructor(options: FirewallWatchOptions) {
    this.#options = options;
    this.#timers = new NamedTimers(options.clock);
  }

  /** Without ours. */
  get chains(): Firewall['chains'] {
    return this.#chains;
  }

  /** Looks soon, once for all calls until then. */
  schedule(): void {
    if (this.#timers.has('look')) return;
    const elapsed = this.#options.clock.now() - this.#lastLook;
    this.#timers.arm('look', Math.max(TOGETHER, GAP - elapsed), () => void this.look());
  }

  /** Reads it; one that is running is waited for. */
  async look(): Promise<void> {
    this.#lastLook = this.#options.clock.now();
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  /** No more looks; resolves when none is running. */
  async close(): Promise<void> {
    this.#timers.cancelAll();
    await this.#running;
  }

  async #look(): Promise<void> {
    try {
      this.#chains = foreignChains(await this.#options.read());
    } catch (error) {
      // That nft does not answer is said by those that need it to; what was read last holds.
      if (!(error instanceof NftablesError)) throw error;
    }
    this.#options.looked();
  }
}

/** Chains that are not the router's own. */
export function foreignChains({ chains }: Firewall): Firewall['chains'] {
  const own = nftTables.map(({ family, name }) => `${family} ${name}`);
  return chains.filter(({ table }) => !own.includes(table));
}
