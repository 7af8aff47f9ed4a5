import { type Nftables, NftablesError, type RouteSocket, SysctlError } from '@bgp-lb/linux';
import { removeVirtualLinks } from '../../on-link/virtual-links.ts';
import type { Removal } from '../data-plane-footprint.ts';
import { perform, readOwnObjects } from './kernel-access.ts';
import { noObjects } from './kernel-objects.ts';
import { nftTables } from './nft-table.ts';
import { describeOperation, operations } from './operation.ts';
import type { SysctlRecord } from './sysctl-record.ts';
import type { SysctlAccess } from './sysctls.ts';

interface UninstallOptions {
  readonly socket: RouteSocket;
  /** Route protocol number of what is ours. */
  readonly protocol: number;
  readonly nft: Pick<Nftables, 'table' | 'deleteTable'>;
  readonly sysctl: SysctlAccess;
  readonly record: Pick<SysctlRecord, 'read'>;
  /** Nothing is changed, only said. */
  readonly isDry: boolean;
}

/** Others may have begun to rely on forwarding, and `accept_ra` has to fit to it. */
const KEPT = /^net\.ipv4\.ip_forward$|\.forwarding$|\.accept_ra$/;

/**
 * Removes everything that carries the router's mark from the kernel, and nothing else. For a host without a router that runs: one
 * would put it back. Idempotent.
 * @throws NetlinkError, NftablesError when something cannot be removed
 */
export async function uninstall(options: UninstallOptions): Promise<Removal> {
  const objects = [...removeObjects(options), ...removeVirtualLinks(options.socket, options.isDry)];
  const tables = await removeTables(options);
  const { restored, left } = restoreSysctls(options);
  return { removed: [...objects, ...tables.removed], restored, left: [...tables.left, ...left] };
}

/** Without nft(8) no router could make a table either: that keeps the rest from nothing. */
async function removeTables({ nft, isDry }: UninstallOptions): Promise<Omit<Removal, 'restored'>> {
  const removed: string[] = [];
  try {
    for (const { family, name } of nftTables) {
      if ((await nft.table(family, name)) === undefined) continue;
      if (!isDry) await nft.deleteTable(family, name);
      removed.push(`nft table ${family} ${name}`);
    }
  } catch (error) {
    if (!(error instanceof NftablesError) || error.reason !== 'missing') throw error;
    return { removed, left: [`nft tables, if there are any: ${error.message}`] };
  }
  return { removed, left: [] };
}

/** First what refers to others: rules, routes, groups, next hops. */
function removeObjects({ socket, protocol, isDry }: UninstallOptions): string[] {
  const actual = readOwnObjects(socket, protocol).objects;
  const all = operations(noObjects, actual);
  const refusal = isDry ? undefined : perform(socket, protocol, all).find((one) => one !== undefined);
  if (refusal !== undefined) throw refusal;
  return all.map((operation) => describeOperation(operation).replace(/^delete-/, ''));
}

/** What was not changed since gets its former value again. */
function restoreSysctls({ sysctl, record, isDry }: UninstallOptions): Omit<Removal, 'removed'> {
  const restored: string[] = [];
  const left: string[] = [];
  for (const [name, { before, after }] of [...record.read()].reverse()) {
    const now = currentValue(sysctl, name);
    if (now === undefined || now === before) continue;
    if (KEPT.test(name)) {
      left.push(`sysctl ${name} = ${now} (was ${before}): others may rely on forwarding by now`);
    } else if (now !== after) {
      left.push(`sysctl ${name} = ${now} (was ${before}): somebody else has set it since`);
    } else {
      const refusal = isDry ? undefined : refusalOf(() => sysctl.write(name, before));
      if (refusal === undefined) restored.push(`sysctl ${name}: ${now} -> ${before}`);
      else left.push(`sysctl ${name} = ${now} (was ${before}): ${refusal}`);
    }
  }
  return { restored, left };
}

/** Why a setting is not written, as where /proc/sys is read-only. */
function refusalOf(write: () => void): string | undefined {
  try {
    write();
    return undefined;
  } catch (error) {
    if (!(error instanceof SysctlError)) throw error;
    return error.message;
  }
}

/** `undefined` for that of an interface that is gone. */
function currentValue(sysctl: SysctlAccess, name: string): string | undefined {
  try {
    return sysctl.read(name);
  } catch {
    return undefined;
  }
}
