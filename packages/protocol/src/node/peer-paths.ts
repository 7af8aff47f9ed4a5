import {
  AdjRibIn,
  type AttributeTable,
  type DecodedUpdate,
  endOfRib,
  type Family,
  type IpAddress,
  ipv4Unicast,
  isEndOfRib,
  type LocalOffer,
  type Negotiated,
  type Path,
  type PathSource,
  parseIpAddress,
  type ReceivedUpdate,
  RefreshTracker,
  type RouteChange,
  type RouterId,
  type SessionEnd,
  withoutZone,
  zoneOf,
} from '../index.ts';
import type { Clock } from './clock.ts';
import { canonicalAddress } from './neighbors.ts';
import type { PeerEvent } from './peer-event.ts';
import type { ResolvedSettings } from './peer-settings.ts';

/** What all peers of a speaker share. */
interface PeerPathsContext extends Pick<LocalOffer, 'asn' | 'routerId'> {
  readonly clusterId: RouterId | undefined;
  readonly table: AttributeTable;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface PeerPathsOptions {
  readonly name: string;
  /** Canonical, a link-local one with its zone. */
  readonly address: string;
  readonly settings: ResolvedSettings;
  readonly context: PeerPathsContext;
  /** It is asked what UPDATEs change. */
  readonly isTold: boolean;
  /** The Adj-RIB-In has changed. */
  readonly changed: (change: RouteChange) => void;
  readonly endOfRib: (family: Family) => void;
  readonly event: (event: PeerEvent) => void;
}

/**
 * The paths of one peer, over its restarts: the receiving speaker of RFC 4724 section 4.2, and the wish of our
 * operator to keep the paths of a process that died (`retainPaths`).
 */
export class PeerPaths {
  readonly #options: PeerPathsOptions;
  #rib: AdjRibIn | undefined;
  /** Some paths may be stale; set by `down`, and taken back only by a sweep, so that no UPDATE has to count. */
  #hasStale = false;
  #families: readonly Family[] = [];
  #restart: Negotiated['gracefulRestart'];
  #cancelStale: () => void = () => undefined;
  readonly #refresh = new RefreshTracker();
  /** Families whose BoRRs are ignored until the End-of-RIB of a peer with graceful restart (RFC 7313 section 4). */
  readonly #unfinished = new Set<Family>();
  #cancelRefresh: () => void = () => undefined;

  constructor(options: PeerPathsOptions) {
    this.#options = options;
  }

  /** `undefined` before the first session. */
  get adjRibIn(): AdjRibIn | undefined {
    return this.#rib;
  }

  /** True while paths from before the peer's restart are kept. */
  get hasStale(): boolean {
    return this.#hasStale;
  }

  get staleCount(): number {
    return this.#hasStale ? this.#countStale() : 0;
  }

  paths(): readonly Path[] {
    return this.#rib === undefined ? [] : [...this.#rib.paths()];
  }

  /** @param localEndpoint our address and port, as `Connection` has them */
  established(negotiated: Negotiated, localEndpoint: string | undefined): void {
    const rib = this.#ribFor(negotiated);
    rib.localAddress = localEndpoint === undefined ? undefined : hostOf(localEndpoint);
    this.#restart = negotiated.gracefulRestart;
    this.#families = negotiated.context.families;
    this.#unfinished.clear();
    if (negotiated.remoteOpen.capabilities.some(({ name }) => name === 'graceful-restart')) {
      for (const family of this.#families) this.#unfinished.add(family);
    }
    if (!this.#hasStale) return;
    for (const family of staleFamilies(rib)) {
      const reason = this.#whyNotKept(family, negotiated);
      if (reason !== undefined) this.#sweep(family, reason);
    }
    if (this.#hasStale) this.#limitStale(this.#options.settings.staleTime, 'no End-of-RIB in time');
  }

  /** @throws NotificationError Cease at the prefix limit */
  update(update: ReceivedUpdate): void {
    const rib = this.#rib;
    if (rib === undefined) return;
    for (const { code, action, subcode, reason } of update.faults) {
      this.#options.event({ type: 'attribute-fault', attribute: code, action, subcode, reason });
    }
    const family = update.faults.length === 0 ? isEndOfRib(update) : undefined;
    if (family !== undefined) {
      if (!this.#families.includes(family)) return;
      this.#unfinished.delete(family);
      // RFC 4724 section 4.2: what is stale at the End-of-RIB marker was not announced again.
      this.#sweep(family, 'not announced again before the End-of-RIB');
      this.#options.endOfRib(family);
      return;
    }
    this.#refresh.note(update);
    const { context, isTold } = this.#options;
    const change = rib.receive(update, context.clock.now(), isTold);
    this.#report(change);
  }

  /** BoRR (RFC 7313 section 4). Without an EoRR within the stale time there was none. */
  beginRefresh(family: Family): void {
    const rib = this.#rib;
    if (rib === undefined || !this.#families.includes(family)) return;
    if (this.#unfinished.has(family)) {
      this.#options.event({ type: 'refresh-ignored', family: family.name });
      return;
    }
    this.#refresh.begin(family, rib.paths());
    this.#cancelRefresh();
    this.#cancelRefresh = this.#options.context.clock.after(this.#options.settings.staleTime * 1000, () =>
      this.#refresh.clear(),
    );
  }

  /** EoRR: what was not sent again since the BoRR is gone (RFC 7313 section 4). */
  endRefresh(family: Family): void {
    const nlri = this.#refresh.end(family);
    const rib = this.#rib;
    if (rib === undefined || nlri.length === 0) return;
    const withdrawal: DecodedUpdate = {
      ...endOfRib(family),
      ...(family === ipv4Unicast ? { withdrawn: nlri } : { mpUnreach: { family, nlri } }),
      faults: [],
      treatAsWithdraw: false,
    };
    this.#report(rib.apply(withdrawal, this.#options.context.clock.now()));
  }

  /**
   * The session is over.
   * @returns Which of the paths are to stay; `report` must follow, once the application knows that the session is down.
   */
  down(end: SessionEnd): { readonly kept: boolean; readonly report: () => void } {
    const rib = this.#rib;
    if (rib === undefined) return { kept: false, report: () => undefined };
    const families = this.#keptFamilies(end);
    this.#cancelStale();
    this.#endRefreshes();
    // "To deal with possible consecutive restarts, a route (from the peer) previously marked as stale MUST be deleted."
    const changes = [rib.sweepStale()];
    for (const family of new Set([...rib.paths()].map(({ prefix }) => prefix.family))) {
      if (!families.includes(family)) changes.push(rib.clear(family));
    }
    rib.markStale();
    this.#hasStale = rib.size > 0;
    if (this.#hasStale) {
      const seconds = this.#secondsToReturn();
      this.#limitStale(seconds, 'the peer did not come back in time');
      this.#options.event({ type: 'paths-kept', count: rib.size, seconds });
    }
    return {
      kept: this.#hasStale,
      report: () => {
        for (const change of changes) this.#report(change);
      },
    };
  }

  /** Gives back the attributes that the Adj-RIB-In holds. */
  dispose(): void {
    this.#cancelStale();
    this.#endRefreshes();
    this.#rib?.clear();
    this.#hasStale = false;
  }

  /** Import policy decides otherwise: what it takes no more goes. */
  reapplyPolicy(): void {
    if (this.#rib !== undefined) this.#report(this.#rib.reapplyPolicy());
  }

  /** Removes what is stale: the application knows better than the timer. */
  dropStale(): void {
    this.#sweep(undefined, 'dropped by request');
  }

  #ribFor({ context, remoteOpen }: Negotiated): AdjRibIn {
    const { name, address, settings, context: local } = this.#options;
    const { table, random } = local;
    const source: PathSource = {
      name,
      address: parseIpAddress(withoutZone(address)),
      zone: zoneOf(address),
      routerId: remoteOpen.bgpIdentifier,
      asn: context.peerAsn,
      isInternal: context.isInternal,
    };
    const known = this.#rib;
    if (known !== undefined) {
      const isOther = known.source.routerId !== source.routerId || known.source.asn !== source.asn;
      known.source = source;
      if (isOther) this.#sweep(undefined, 'another router has the address now');
      return known;
    }
    const { importPolicy, maxPaths, maxReceived } = settings;
    this.#rib = new AdjRibIn({
      table,
      source,
      localAsn: local.asn,
      routerId: local.routerId,
      hashSeed: Math.floor(random() * 2 ** 32),
      ...(local.clusterId === undefined ? {} : { clusterId: local.clusterId }),
      ...(importPolicy === undefined ? {} : { importPolicy }),
      ...(maxPaths === undefined ? {} : { maxPaths }),
      ...(maxReceived === undefined ? {} : { maxReceived }),
    });
    return this.#rib;
  }

  #keptFamilies({ kind }: SessionEnd): readonly Family[] {
    if (kind !== 'tcp-closed' && kind !== 'tcp-reset') return [];
    if (this.#options.settings.retainPaths === 'always') return this.#families;
    // RFC 4724 section 4.2: "for all the address families that were previously received in the Graceful Restart Capability".
    return this.#restart?.families.map(({ family }) => family) ?? [];
  }

  #secondsToReturn(): number {
    const { retainPaths, staleTime } = this.#options.settings;
    if (retainPaths === 'always') return staleTime;
    return Math.min(staleTime, this.#restart?.restartTime ?? 0);
  }

  /** RFC 4724 section 4.2: what the new OPEN says about the forwarding state of a family. */
  #whyNotKept(family: Family, { context, gracefulRestart }: Negotiated): string | undefined {
    if (!context.families.includes(family)) return 'the family is not negotiated any more';
    if (gracefulRestart === undefined) {
      return this.#options.settings.retainPaths === 'always' ? undefined : 'no graceful restart any more';
    }
    const entry = gracefulRestart.families.find((each) => each.family === family);
    if (entry === undefined) return 'the family is missing in the graceful restart capability';
    return entry.forwardingPreserved ? undefined : 'the peer did not keep its forwarding state';
  }

  #limitStale(seconds: number, reason: string): void {
    this.#cancelStale();
    this.#cancelStale = this.#options.context.clock.after(seconds * 1000, () =>
      this.#sweep(undefined, reason),
    );
  }

  #sweep(family: Family | undefined, reason: string): void {
    const rib = this.#rib;
    if (rib === undefined || !this.#hasStale) return;
    const change = rib.sweepStale(family);
    this.#hasStale = family !== undefined && this.#countStale() > 0;
    if (!this.#hasStale) this.#cancelStale();
    if (change.withdrawn.length > 0) {
      this.#options.event({ type: 'stale-paths-removed', count: change.withdrawn.length, reason });
    }
    this.#report(change);
  }

  #endRefreshes(): void {
    this.#cancelRefresh();
    this.#refresh.clear();
  }

  #countStale(): number {
    let count = 0;
    for (const path of this.#rib?.paths() ?? []) if (path.isStale) count += 1;
    return count;
  }

  #report(change: RouteChange): void {
    const { announced, withdrawn, rejected, refreshed } = change;
    const total = announced.length + withdrawn.length + rejected.length + (refreshed?.length ?? 0);
    if (total > 0) this.#options.changed(change);
  }
}

/** `10.0.0.1` of `10.0.0.1:179`, `fe80::1` of `[fe80::1%eth0]:179`. */
function hostOf(endpoint: string): IpAddress {
  const text = endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, '');
  return parseIpAddress(withoutZone(canonicalAddress(text)));
}

function staleFamilies(rib: AdjRibIn): ReadonlySet<Family> {
  const families = new Set<Family>();
  for (const path of rib.paths()) if (path.isStale) families.add(path.prefix.family);
  return families;
}
