import { isDeepStrictEqual } from 'node:util';
import type { RouterConfig } from '../config/router-config.ts';

/** What a reload does to VIPs, by address. */
export interface VipChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** They have another port. */
  readonly changed: readonly string[];
}

/** Compares VIPs by their addresses. Pure. */
export function vipChanges(before: RouterConfig['vips'], after: RouterConfig['vips']): VipChanges {
  const known = new Map(before.map((vip) => [vip.address, vip]));
  const kept = new Set(after.map(({ address }) => address));
  return {
    added: after.map(({ address }) => address).filter((address) => !known.has(address)),
    removed: [...known.keys()].filter((address) => !kept.has(address)),
    changed: after
      .filter((vip) => {
        const was = known.get(vip.address);
        return was !== undefined && (was.port !== vip.port || was.machinePort !== vip.machinePort);
      })
      .map(({ address }) => address),
  };
}

/** Keys of the VIPs that have their members from elsewhere now. Pure. */
export function memberKeys(before: RouterConfig['vips'], after: RouterConfig['vips']): string[] {
  const known = new Map(before.map((vip) => [vip.address, vip.members]));
  return after
    .filter(({ address, members }) => known.has(address) && !isDeepStrictEqual(known.get(address), members))
    .map(({ address }) => `vips.${address}.members`);
}
