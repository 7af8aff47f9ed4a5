import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Nftables, RouteSocket } from '@bgp-lb/linux';
import type { SpeakerConfig } from '../config/speaker-config.ts';
import { removePath } from '../host-files.ts';
import { KEPT_MANIFEST } from '../kept-manifest.ts';
import { HOLD_TABLE } from '../kernel/connection-hold.ts';
import { NFT_FAMILY, NFT_TABLE } from '../kernel/nft-table.ts';
import { VipAddresses } from '../kernel/vip-addresses.ts';
import { VipRoutes } from '../kernel/vip-routes.ts';
import { removeMarkers } from '../prepare.ts';

export interface UninstallOptions {
  readonly config: SpeakerConfig;
  readonly routes: RouteSocket;
  readonly nft: Nftables;
  /** Files of ours on the host besides state and sockets. */
  readonly files: readonly string[];
}

/** What `bgp-lb-speaker` writes into its state folder. */
const stateFiles = [
  'state.json',
  'state.json.new',
  'state.json.corrupt',
  KEPT_MANIFEST,
  'drain.json',
  'drain-annotation.json',
  'native',
] as const;

/**
 * Removes everything that carries the speaker's mark from this host, and nothing else. For a host without a speaker that runs:
 * one would put it back. Idempotent.
 * @returns what was done, one sentence each
 * @throws NetlinkError, NftablesError, Error when something cannot be removed
 */
export async function uninstall({
  config,
  routes,
  nft,
  files,
}: UninstallOptions): Promise<readonly string[]> {
  const done = [...new VipAddresses(routes, config.vipBind ? config.vips : []).remove(new Set())];
  const vipRoutes = new VipRoutes(routes, { vips: config.vips, routers: () => [], routeToVip: false });
  done.push(...vipRoutes.settle().done);
  for (const table of [NFT_TABLE, HOLD_TABLE]) {
    if ((await nft.table(NFT_FAMILY, table)) === undefined) continue;
    await nft.deleteTable(NFT_FAMILY, table);
    done.push(`removed the nft table ${NFT_FAMILY} ${table}`);
  }
  done.push(...removeMarkers(config.bootstrap.markers));
  const { stateDir } = config.bootstrap;
  const ours = [
    ...files,
    ...stateFiles.map((name) => join(stateDir, name)),
    config.drain.file,
    config.api.socket,
  ];
  done.push(...ours.filter((path) => removePath(path)).map((path) => `removed ${path}`));
  for (const folder of new Set([stateDir, dirname(config.api.socket), dirname(config.drain.file)])) {
    if (removeEmptyFolder(folder)) done.push(`removed the empty folder ${folder}`);
  }
  return done;
}

/** Removes a folder of ours. Others may keep files there: the router does on a machine that is both. @returns whether it is gone by this */
export function removeEmptyFolder(folder: string): boolean {
  if (!existsSync(folder) || readdirSync(folder).length > 0) return false;
  rmdirSync(folder);
  return true;
}
