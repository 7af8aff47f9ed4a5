import {
  arpLinks,
  type KernelChange,
  NetlinkError,
  type NftCommand,
  type NftElements,
  type NftFamily,
  type RouteSocket,
} from '@bgp-lb/linux';
import type { VipConfig } from '../config/speaker-config.ts';
import { HOLD_TABLE } from './connection-hold.ts';
import { uplinks } from './host-links.ts';
import {
  fingerprint,
  mappingElements,
  NFT_FAMILY,
  NFT_TABLE,
  needsMapping,
  tableCommands,
  type Uplinks,
} from './nft-table.ts';
import { LEASE_SECONDS, VipAddresses } from './vip-addresses.ts';
import { VipRoutes } from './vip-routes.ts';
import { type VipElsewhere, vipsElsewhere } from './vips-elsewhere.ts';

/** The part of `Nftables` of @bgp-lb/linux that is used here. */
interface NftTables {
  apply(commands: readonly NftCommand[]): Promise<void>;
  table(family: NftFamily, name: string): Promise<readonly unknown[] | undefined>;
}

export type OwnedObject = 'address' | 'nftables' | 'arp' | 'route';

export interface HostNetworkOptions {
  readonly routes: RouteSocket;
  readonly nft: NftTables;
  readonly elements: Pick<NftElements, 'replace'>;
  readonly vips: readonly VipConfig[];
  /** The VIPs are to be on this host while they are bound; otherwise nothing but routes is, whatever is declared bound. */
  readonly vipBind: boolean;
  /** Addresses of the routers: the links towards them are the uplinks. */
  readonly routers: () => readonly string[];
  readonly nodeAddress: string;
  /** Each VIP is to have a route by each router: see `VipRoutes`. */
  readonly routeToVip: boolean;
  /** Something of ours was missing or changed, and has been put right. One phrase. */
  readonly repaired: (object: OwnedObject, what: string) => void;
  /** What keeps routes to the VIPs from being there, one phrase each: told when it changes. */
  readonly routesMissing: (why: readonly string[]) => void;
  /** VIPs that another program has put on a link of this host: told when it changes. */
  readonly elsewhere: (found: readonly VipElsewhere[]) => void;
}

/**
 * How thorough a pass is: after an event of the kernel, after one about our nft table (which is then read back), on the timer
 * of the leases (which are renewed), or on the slow one (everything read back, leases renewed). Only those that read the nft
 * table back, or change it, start a program for it.
 */
export type Pass = 'event' | 'nft' | 'lease' | 'full';

/**
 * The speaker's objects in the kernel: VIPs on `lo`, the nft table, the ARP settings of the uplinks, routes to the VIPs. Level-triggered:
 * each pass reads what is there and repairs the difference to what is wanted. Passes never overlap.
 */
export class HostNetwork {
  readonly #options: HostNetworkOptions;
  readonly #addresses: VipAddresses;
  readonly #vipRoutes: VipRoutes;
  #bound: ReadonlySet<string> = new Set();
  /** VIPs that the last completed pass bound: what is new against it is a change of ours, not a repair. */
  #applied: ReadonlySet<string> | undefined;
  /** Links that had their ARP settings before: another value there was set by another program. */
  readonly #arpSettled = new Set<number>();
  #uplinks: Uplinks = { names: [], mtu: undefined };
  #routesMissing: readonly string[] = [];
  #elsewhere: readonly VipElsewhere[] = [];
  /** The routers that routes were last settled for: what is done about them while those are the same is a repair. */
  #routedBy: string | undefined;
  /** The table as it was read back after our last change of it; `undefined` of one that is to be made, or could not be read. */
  #fingerprint: Promise<string | undefined> = Promise.resolve(undefined);
  #queue: Promise<void> = Promise.resolve();

  constructor(options: HostNetworkOptions) {
    this.#options = options;
    this.#addresses = new VipAddresses(options.routes, options.vipBind ? options.vips : []);
    this.#vipRoutes = new VipRoutes(options.routes, options);
  }

  /** VIPs that are on `lo` now, bound by us or by a predecessor. */
  found(): readonly VipConfig[] {
    return this.#addresses.found();
  }

  /** Links that carry VIP traffic, as of the last pass. */
  get uplinks(): readonly string[] {
    return this.#uplinks.names;
  }

  /** What keeps routes to the VIPs from being there, as of the last pass. */
  get routesMissing(): readonly string[] {
    return this.#routesMissing;
  }

  /** VIPs that another program has on a link of this host, as of the last pass. */
  get elsewhere(): readonly VipElsewhere[] {
    return this.#elsewhere;
  }

  /** Whether a change that the kernel tells of calls for a pass. */
  isConcernedBy(change: KernelChange): boolean {
    return change.kind !== 'route' || this.#vipRoutes.isConcernedBy(change);
  }

  /**
   * Declares which VIPs are to be bound, and resolves when the kernel agrees.
   * @throws NetlinkError, NftablesError when the kernel refuses; the next pass tries again
   */
  setBound(addresses: ReadonlySet<string>): Promise<void> {
    this.#bound = addresses;
    return this.reconcile('event');
  }

  /** Runs one pass after those that are running. @throws NetlinkError, NftablesError */
  reconcile(pass: Pass): Promise<void> {
    const run = this.#queue.then(() => this.#pass(pass));
    this.#queue = run.catch(() => undefined);
    return run;
  }

  async #pass(pass: Pass): Promise<void> {
    const bound = this.#bound;
    const before = this.#applied;
    if (!this.#options.vipBind) {
      await this.#clear();
      this.#settleRoutes();
      this.#applied = bound;
      return;
    }
    this.#settleArp();
    const foreign = this.#addresses.remove(bound);
    if (before !== undefined && isEqual(before, bound)) this.#report('address', foreign);
    await this.#settleTable(pass, bound);
    const missing = this.#addresses.add(bound);
    if (before !== undefined && isEqual(before, bound)) this.#report('address', missing);
    if (renewsLeases(pass)) this.#addresses.renew(bound);
    this.#settleRoutes();
    this.#lookElsewhere();
    this.#applied = bound;
  }

  /** What a speaker with other settings left here is taken away, once: others may use it. */
  async #clear(): Promise<void> {
    if (this.#applied !== undefined) return;
    this.#addresses.remove(new Set());
    const { nft } = this.#options;
    for (const name of [NFT_TABLE, HOLD_TABLE]) {
      if ((await nft.table(NFT_FAMILY, name)) === undefined) continue;
      await nft.apply([{ delete: { table: { family: NFT_FAMILY, name } } }]);
    }
  }

  /** A route that the kernel refuses is no reason to keep a VIP from service: it is told, and tried again by the next pass. */
  #settleRoutes(): void {
    let missing: readonly string[];
    try {
      const report = this.#vipRoutes.settle();
      const routers = this.#options.routers().join();
      if (routers === this.#routedBy) this.#report('route', report.done);
      this.#routedBy = routers;
      missing = report.missing;
    } catch (error) {
      if (!(error instanceof NetlinkError)) throw error;
      missing = [error.message];
    }
    if (isSameList(missing, this.#routesMissing)) return;
    this.#routesMissing = missing;
    this.#options.routesMissing(missing);
  }

  #lookElsewhere(): void {
    const { routes, vips } = this.#options;
    const found = vipsElsewhere(vips, routes.links(), routes.addresses());
    const names = (list: readonly VipElsewhere[]): readonly string[] =>
      list.map(({ vip, link }) => `${vip} ${link}`);
    if (isSameList(names(found), names(this.#elsewhere))) return;
    this.#elsewhere = found;
    this.#options.elsewhere(found);
  }

  /** arp_ignore=1 and arp_announce=2: no link answers ARP for an address of `lo`, nor asks with one as the sender. */
  #settleArp(): void {
    const { routes } = this.#options;
    for (const { index, name } of arpLinks(routes.links(), routes.addresses())) {
      const { arpIgnore = 0, arpAnnounce = 0 } = routes.linkIpv4Conf(index);
      if (arpIgnore >= 1 && arpAnnounce >= 2) continue;
      if (this.#arpSettled.has(index))
        this.#report('arp', [`set arp_ignore and arp_announce of ${name} again`]);
      this.#arpSettled.add(index);
      routes.setLinkIpv4Conf(index, {
        arpIgnore: Math.max(1, arpIgnore),
        arpAnnounce: Math.max(2, arpAnnounce),
      });
    }
  }

  async #settleTable(pass: Pass, bound: ReadonlySet<string>): Promise<void> {
    const { nft, vips } = this.#options;
    const current = this.#currentUplinks();
    const members = vips.filter(({ address }) => bound.has(address));
    const isDue = renewsLeases(pass) || this.#applied === undefined || !isEqual(this.#applied, bound);
    if (
      isSameList(current.names, this.#uplinks.names) &&
      current.mtu === this.#uplinks.mtu &&
      (await this.#isTableKept(pass)) &&
      (!isDue || this.#replaceMappings(members))
    )
      return;
    await nft.apply(tableCommands(vips, current, members, LEASE_SECONDS));
    this.#uplinks = current;
    // The table is there: neither the start nor a VIP waits for another run of nft. The next question about it does.
    this.#fingerprint = this.#readFingerprint().catch(() => undefined);
  }

  /** @returns false when the table is to be made first */
  #replaceMappings(members: readonly VipConfig[]): boolean {
    const { elements, vips } = this.#options;
    if (!vips.some(needsMapping)) return true;
    try {
      elements.replace(NFT_FAMILY, NFT_TABLE, mappingElements(vips, members, LEASE_SECONDS));
      return true;
    } catch (error) {
      // nft has the last word, and the better one about what is wrong.
      if (error instanceof NetlinkError) return false;
      throw error;
    }
  }

  async #isTableKept(pass: Pass): Promise<boolean> {
    const known = await this.#fingerprint;
    if (known === undefined) return false;
    if (pass === 'event' || pass === 'lease' || (await this.#readFingerprint()) === known) return true;
    this.#report('nftables', [`replaced the table ${NFT_FAMILY} ${NFT_TABLE}, which was missing or changed`]);
    return false;
  }

  async #readFingerprint(): Promise<string | undefined> {
    const objects = await this.#options.nft.table(NFT_FAMILY, NFT_TABLE);
    return objects === undefined ? undefined : fingerprint(objects);
  }

  #currentUplinks(): Uplinks {
    const { routes, routers, nodeAddress } = this.#options;
    const interfaces = routers().flatMap((router) => {
      try {
        return [routes.routeTo(router).interfaceIndex ?? 0];
      } catch {
        return []; // No route yet: the next link, address or route event brings another pass.
      }
    });
    const links = routes.links();
    const mtus = links.filter(({ index }) => interfaces.includes(index)).map(({ mtu }) => mtu);
    return {
      names: uplinks(links, routes.addresses(), nodeAddress, interfaces),
      mtu: mtus.length === 0 ? undefined : Math.min(...mtus),
    };
  }

  #report(object: OwnedObject, phrases: readonly string[]): void {
    for (const phrase of phrases) this.#options.repaired(object, phrase);
  }
}

function renewsLeases(pass: Pass): boolean {
  return pass === 'lease' || pass === 'full';
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
