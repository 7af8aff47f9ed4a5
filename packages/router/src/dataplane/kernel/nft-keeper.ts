import { existsSync } from 'node:fs';
import type { Nftables } from '@bgp-lb/linux';
import {
  type FilteredVip,
  isNftTableIntact,
  NFT_TABLE,
  type NftTableOptions,
  nftCommands,
} from './nft-table.ts';

/** Exists in every network namespace once connection tracking is loaded. */
const CONNTRACK = '/proc/sys/net/netfilter/nf_conntrack_max';

/** Keeps the router's nft table as it should be. Never two checks at a time. */
export class NftKeeper {
  #nft: Pick<Nftables, 'apply' | 'table'>;
  #vips: readonly FilteredVip[];
  #fixed: Pick<NftTableOptions, 'replyMark' | 'refuseUnrouted'>;
  #running: Promise<'intact' | 'made'> | undefined;

  constructor(
    nft: Pick<Nftables, 'apply' | 'table'>,
    vips: readonly FilteredVip[],
    fixed: Pick<NftTableOptions, 'replyMark' | 'refuseUnrouted'>,
  ) {
    this.#nft = nft;
    this.#vips = vips;
    this.#fixed = fixed;
  }

  /** Looks at the table and makes it anew when it is not as wanted. Throws when nft cannot be run or refuses. */
  ensure(): Promise<'intact' | 'made'> {
    this.#running ??= this.#ensure().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  async #ensure(): Promise<'intact' | 'made'> {
    // Looked at each time: connection tracking may be loaded later, by docker for example.
    const options: NftTableOptions = {
      vips: this.#vips,
      ...this.#fixed,
      notrack: existsSync(CONNTRACK),
    };
    const listed = await this.#nft.table('inet', NFT_TABLE);
    if (listed !== undefined && isNftTableIntact(listed, options)) {
      return 'intact';
    }
    await this.#nft.apply(nftCommands(options));
    return 'made';
  }
}
