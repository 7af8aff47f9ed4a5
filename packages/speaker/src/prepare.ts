import { rmSync } from 'node:fs';
import type { Nftables, RouteSocket } from '@bgp-lb/linux';
import type { BootstrapState } from './bootstrap/bootstrap-state.ts';
import { StateFile } from './bootstrap/state-file.ts';
import type { SpeakerConfig } from './config/speaker-config.ts';
import { HOLD_TABLE } from './kernel/connection-hold.ts';
import { NFT_FAMILY, NFT_TABLE } from './kernel/nft-table.ts';
import { VipAddresses } from './kernel/vip-addresses.ts';
import { type RouteReport, VipRoutes } from './kernel/vip-routes.ts';
import { DrainOrderFile } from './lifecycle/drain-order.ts';
import type { Role } from './lifecycle/lifecycle-input.ts';

export interface PrepareOptions {
  readonly config: SpeakerConfig;
  /** What kubeadm is about to do on this machine, where the operator says so. */
  readonly role: Role | undefined;
  readonly routes: RouteSocket;
  readonly nft: Nftables;
  /** ISO 8601. */
  readonly now: string;
}

/**
 * Makes the machine as if no speaker had run on it: for use before kubeadm, above all before a new join after
 * `kubeadm reset`. Idempotent.
 * @returns what was done and what follows, one sentence each
 * @throws NetlinkError, NftablesError, Error when something cannot be removed
 */
export async function prepare(options: PrepareOptions): Promise<readonly string[]> {
  const { config, role, routes, nft, now } = options;
  const done = [...new VipAddresses(routes, config.vipBind ? config.vips : []).remove(new Set())];
  for (const table of [NFT_TABLE, HOLD_TABLE]) {
    if ((await nft.table(NFT_FAMILY, table)) === undefined) continue;
    await nft.deleteTable(NFT_FAMILY, table);
    done.push(`removed the nft table ${NFT_FAMILY} ${table}`);
  }
  if (new DrainOrderFile(config.bootstrap.stateDir, () => undefined).takeBack())
    done.push('took the order to drain back');
  done.push(...removeMarkers(config.bootstrap.markers));
  const file = new StateFile(config.bootstrap.stateDir);
  const { state: before, fault } = file.load(now);
  if (fault !== undefined) done.push(fault.reason);
  const after = preparedState(before, config.role, role, now);
  file.save(after);
  const vipRoutes = prepareRoutes(config, routes);
  done.push(...vipRoutes.done, ...vipRoutes.missing);
  if (before.latch !== undefined) done.push('removed the proof of bootstrap');
  if (after.role !== undefined) done.push(`the role is ${after.role} until the next prepare`);
  if (after.void !== undefined) {
    done.push(
      'this machine had a life as a control plane member, and the configured role is init: whether it begins a new cluster or joins ' +
        'one is not known, so the VIP stays off it; say --role init or --role join',
    );
  }
  return done;
}

/**
 * The state after `prepare`. A machine with the role init that had an earlier life does not begin as init again unless it is
 * said so: after `kubeadm reset` it usually joins, and a joiner that has the VIP on itself cannot reach the others.
 */
export function preparedState(
  before: BootstrapState,
  configured: SpeakerConfig['role'],
  role: Role | undefined,
  now: string,
): BootstrapState {
  if (role !== undefined) return { role, consumed: [] };
  const said: BootstrapState =
    before.role === undefined ? { consumed: [] } : { role: before.role, consumed: [] };
  const hadLife = before.latch !== undefined || before.void !== undefined;
  if ((before.role ?? configured) !== 'init' || !hadLife) return said;
  return {
    ...said,
    void: { reason: 'prepare was run without --role after an earlier life of this machine', since: now },
  };
}

/** Makes the routes to the VIPs as `routeToVip` says. @throws NetlinkError */
export function prepareRoutes(config: SpeakerConfig, routes: RouteSocket): RouteReport {
  const routers = () => config.routers.map(({ address }) => address);
  return new VipRoutes(routes, { ...config, routers }).settle();
}

/** Removes markers of a successful kubeadm. @returns what was done, one phrase each */
export function removeMarkers(markers: readonly string[]): readonly string[] {
  return markers.flatMap((marker) => {
    try {
      rmSync(marker);
      return [`removed the marker ${marker}`];
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
        return [];
      throw error;
    }
  });
}
