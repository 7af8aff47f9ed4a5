import { existsSync } from 'node:fs';
import type { Nftables } from '@bgp-lb/linux';
import { type CopyTargets, copyTable } from './icmp-copies.ts';
import {
  type FilteredVip,
  filterTable,
  isNftTableIntact,
  NFT_TABLE,
  type NftTable,
  type NftTableOptions,
  nftCommands,
} from './nft-table.ts';

/** Exists in every network namespace once connection tracking is loaded. */
const CONNTRACK = '/proc/sys/net/netfilter/nf_conntrack_max';

export interface NftKeeperOptions extends Pick<NftTableOptions, 'replyMark' | 'refuseUnrouted'> {
  readonly nft: Pick<Nftables, 'apply' | 'table'>;
  readonly vips: readonly FilteredVip[];
  /** To whom ICMP errors are copied now. */
  readonly copies: () => CopyTargets;
}

/** Keeps the router's nft tables as they should be. Never two checks at a time. */
export class NftKeeper {
  readonly #options: NftKeeperOptions;
  readonly #versions: readonly (4 | 6)[];
  /** What was made last, by family. */
  readonly #made = new Map<NftTable['family'], string>();
  #last: Promise<readonly string[]> | undefined;

  constructor(options: NftKeeperOptions) {
    this.#options = options;
    this.#versions = [...new Set(options.vips.map(({ address }) => (address.includes(':') ? 6 : 4)))];
  }

  /**
   * Looks at the tables and makes anew what is not as wanted. Throws when nft cannot be run or refuses.
   * @returns what others had changed, in words
   */
  ensure(): Promise<readonly string[]> {
    // One that is running may have looked already at what has changed since.
    const run = this.idle().then(() => this.#ensure());
    this.#last = run;
    return run;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#last?.catch(() => undefined);
  }

  async #ensure(): Promise<readonly string[]> {
    const { vips, replyMark, refuseUnrouted, copies } = this.#options;
    // Looked at each time: connection tracking may be loaded later, by docker for example.
    const notrack = existsSync(CONNTRACK);
    const repaired = await this.#keep(filterTable({ vips, replyMark, refuseUnrouted, notrack }));
    const targets = copies();
    for (const version of this.#versions) {
      // By itself: where an interface has just gone nft refuses the copies, and the filter must stand all the same.
      repaired.push(...(await this.#keep(copyTable(version, targets))));
    }
    return repaired;
  }

  async #keep(table: NftTable): Promise<string[]> {
    const { nft } = this.#options;
    const { family } = table;
    const wanted = JSON.stringify(table);
    const listed = await nft.table(family, NFT_TABLE);
    if (listed !== undefined && isNftTableIntact(listed, table)) {
      this.#made.set(family, wanted);
      return [];
    }
    const isRepair = this.#made.get(family) === wanted;
    await nft.apply(nftCommands(table));
    this.#made.set(family, wanted);
    return isRepair ? [`nft table ${family} ${NFT_TABLE} made`] : [];
  }
}
