import { existsSync } from 'node:fs';
import type { Nftables } from '@bgp-lb/linux';
import { ipVersion } from '@bgp-lb/protocol';
import type { Clock } from '@bgp-lb/protocol/node';
import type { Difference } from '../data-plane.ts';
import { evidenceTable } from './evidence-table.ts';
import { type CopyTargets, copyTable } from './icmp-copies.ts';
import type { KernelVip } from './kernel-data-plane-options.ts';
import { NamedTimers } from './named-timers.ts';
import {
  filterTable,
  NFT_TABLE,
  type NftTable,
  type NftTableOptions,
  nftCommands,
  tableFaults,
} from './nft-table.ts';

/** Exists in every network namespace once connection tracking is loaded. */
const CONNTRACK = '/proc/sys/net/netfilter/nf_conntrack_max';
/** Changes that come together are looked at together (ms). */
const TOGETHER = 20;
/** Two looks at the tables are at least so far apart (ms): each costs a process, and they may be changed for ever. */
const GAP = 250;
/** After nft has failed it is tried again (ms): an interface that has gone may be there again. */
const RETRY = 2000;

/** What a look at the tables found. */
export interface NftLook {
  /** The VIPs that the tables were to be for. */
  readonly vips: readonly KernelVip[];
  /** What others had changed, in words. */
  readonly repaired: readonly string[];
  /** Why they are not as wanted; it is tried again. */
  readonly problem: string | undefined;
}

export interface NftKeeperOptions extends Pick<NftTableOptions, 'replyMark' | 'refuseUnrouted'> {
  readonly nft: Pick<Nftables, 'apply' | 'table'>;
  readonly clock: Clock;
  /** Those that are carried now. */
  readonly vips: () => readonly KernelVip[];
  /** To whom ICMP errors are copied now. */
  readonly copies: () => CopyTargets;
  readonly looked: (look: NftLook) => void;
}

/** Keeps the router's nft tables as they should be. Never two checks at a time. */
export class NftKeeper {
  readonly #options: NftKeeperOptions;
  /** What was made last, by family and name. */
  readonly #made = new Map<string, string>();
  readonly #timers: NamedTimers<'look'>;
  /** What was asked for last; one thing is done after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #lastLook = Number.NEGATIVE_INFINITY;
  #copies = '';
  #comparison: Promise<readonly Difference[]> | undefined;

  constructor(options: NftKeeperOptions) {
    this.#options = options;
    this.#timers = new NamedTimers(options.clock);
  }

  /** Looks soon, once for all calls until then. */
  schedule(): void {
    if (!this.#timers.has('look')) {
      const elapsed = this.#options.clock.now() - this.#lastLook;
      this.#timers.arm('look', Math.max(TOGETHER, GAP - elapsed), () => void this.look());
    }
  }

  /** To be called when the copies may be for others: looks soon if they are. */
  copiesMayDiffer(): void {
    const copies = JSON.stringify([...this.#options.copies()]);
    if (copies !== this.#copies) {
      this.#copies = copies;
      this.schedule();
    }
  }

  /** Looks at the tables and makes again what is not as wanted; `looked` hears what came of it before this resolves. */
  look(): Promise<void> {
    this.#timers.cancelAll();
    this.#lastLook = this.#options.clock.now();
    // One that is running may have looked already at what has changed since.
    return this.#enqueue(() => this.#look());
  }

  /** What is not as wanted now; nothing is put right. Calls that overlap share one answer. @throws when nft cannot be run */
  differences(): Promise<readonly Difference[]> {
    this.#comparison ??= this.#enqueue(() => this.#compare()).finally(() => {
      this.#comparison = undefined;
    });
    return this.#comparison;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** No more looks; resolves when none is running. */
  async close(): Promise<void> {
    this.#timers.cancelAll();
    await this.idle();
    this.#timers.cancelAll();
  }

  /** @returns what `run` gives, when everything that was asked for before is done */
  #enqueue<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #compare(): Promise<readonly Difference[]> {
    const differences: Difference[] = [];
    const vips = this.#options.vips();
    for (const table of this.#wanted(vips)) {
      const name = nameOf(table);
      const listed = await this.#listed(table);
      const faults = listed === undefined ? [{ text: 'missing' }] : tableFaults(listed, table);
      for (const { text, rule } of faults) {
        const of = rule && JSON.stringify(rule);
        const vip = vips.find(({ address }) => of?.includes(`"right":"${address}"`) === true);
        differences.push({
          vip: vip?.prefix ?? null,
          object: 'firewall',
          difference: `table ${name}: ${text}`,
        });
      }
    }
    return differences;
  }

  async #look(): Promise<void> {
    const { vips: read, looked } = this.#options;
    const vips = read();
    const repaired: string[] = [];
    const problems = new Set<string>();
    for (const table of this.#wanted(vips)) {
      try {
        // Each by itself: where an interface has just gone nft refuses the copies, and the others must stand all the same.
        repaired.push(...(await this.#keep(table)));
      } catch (error) {
        problems.add(error instanceof Error ? error.message : String(error));
      }
    }
    if (problems.size > 0) this.#timers.arm('look', RETRY, () => void this.look());
    looked({ vips, repaired, problem: problems.size === 0 ? undefined : [...problems].join('; ') });
  }

  /** The tables as they should be, the filter first. */
  #wanted(vips: readonly KernelVip[]): readonly NftTable[] {
    const { replyMark, refuseUnrouted, copies } = this.#options;
    // Looked at each time: connection tracking may be loaded later, by docker for example.
    const notrack = existsSync(CONNTRACK);
    const targets = copies();
    const versions = this.#versionsOf(vips);
    return [
      filterTable({ vips, replyMark, refuseUnrouted, notrack }),
      ...versions.map((version) => evidenceTable(version, vips)),
      ...versions.map((version) => copyTable(version, targets)),
    ];
  }

  /** Also the version that no VIP is of any more: its table is emptied. */
  #versionsOf(vips: readonly KernelVip[]): readonly (4 | 6)[] {
    return ([4, 6] as const).filter(
      (version) =>
        vips.some(({ address }) => ipVersion(address) === version) ||
        this.#made.has(`${version === 4 ? 'ip' : 'ip6'} ${NFT_TABLE}`),
    );
  }

  async #keep(table: NftTable): Promise<string[]> {
    const name = nameOf(table);
    const wanted = JSON.stringify(table);
    const listed = await this.#listed(table);
    if (listed !== undefined && tableFaults(listed, table).length === 0) {
      this.#made.set(name, wanted);
      return [];
    }
    const isRepair = this.#made.get(name) === wanted;
    await this.#options.nft.apply(nftCommands(table));
    this.#made.set(name, wanted);
    return isRepair ? [`nft table ${name} made`] : [];
  }

  #listed({ family, name = NFT_TABLE }: NftTable): ReturnType<Nftables['table']> {
    return this.#options.nft.table(family, name, { terse: true });
  }
}

function nameOf({ family, name = NFT_TABLE }: NftTable): string {
  return `${family} ${name}`;
}
