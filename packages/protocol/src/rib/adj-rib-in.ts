import type { Asn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import type { IpAddress } from '../types/ip-address.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { pathIdOfWords, prefixOfWords, setRouteWords } from '../types/route-words.ts';
import type { RouterId } from '../types/router-id.ts';
import type { AttributeOctets } from '../wire/attribute-octets.ts';
import type { DecodedUpdate, ReceivedUpdate } from '../wire/message.ts';
import type { NlriField } from '../wire/nlri-field.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import { receivedUpdate } from '../wire/update.ts';
import { type AnnouncedRoutes, Announcement } from './announcement.ts';
import type { AttributeTable } from './attribute-table.ts';
import { ChangeBuilder } from './change-builder.ts';
import { JudgedSets } from './judged-sets.ts';
import { loopReason } from './loop-detection.ts';
import type { ImportPolicy, Path, PathSource, RejectedPath, RouteChange } from './path.ts';
import { PathStore } from './path-store.ts';
import { maximumReached, ReceivedRoutes } from './received-routes.ts';
import { isSameSource } from './source-list.ts';
import type { RouteId, UpdateRoutes } from './update-routes.ts';
import { routeIds, routeKey, routesOf } from './update-routes.ts';

/** How many of the last rejected announcements are kept for people to see. */
const REJECTED_KEPT = 32;

export interface AdjRibInOptions {
  /** The table that the attributes of all paths are interned in; several Adj-RIBs may share one. */
  readonly table: AttributeTable;
  readonly source: PathSource;
  /** Takes or rejects each announcement. Default: takes all. */
  readonly importPolicy?: ImportPolicy;
  /** The most paths of one family that are held. Default: no limit. */
  readonly maxPaths?: number;
  /** The most routes of one family that the peer may announce in a session, those counted that are rejected. Default: no limit. */
  readonly maxReceived?: number;
  /** With it, a path that has this AS in its AS_PATH is rejected (RFC 4271 section 9.1.2). */
  readonly localAsn?: Asn;
  /** With it, a path that has it as ORIGINATOR_ID is rejected (RFC 4456 section 8). */
  readonly routerId?: RouterId;
  /** With it, a path that has it in its CLUSTER_LIST is rejected (RFC 4456 section 8). */
  readonly clusterId?: RouterId;
  /**
   * A random 32-bit integer. With one that the peer does not know, it cannot choose prefixes that make the RIB slow.
   * Default 0.
   */
  readonly hashSeed?: number;
}

/**
 * The routes that one peer has announced and that import policy took (RFC 4271 section 3.2). It outlives a session when
 * the peer restarts gracefully: `markStale`, then `source` for the new session, then `sweepStale`.
 */
export class AdjRibIn {
  /** The peer, as paths learned from now on show it. Set again when a session with another BGP Identifier follows. */
  source: PathSource;
  readonly #options: AdjRibInOptions;
  readonly #table: AttributeTable;
  readonly #stores = new Map<Family, PathStore>();
  readonly #lastRejected: RejectedPath[] = [];
  readonly #received: ReceivedRoutes | undefined;
  #localAddress: IpAddress | undefined;
  /** Sets that show no loop, as long as our address is the same. */
  readonly #loopFree = new JudgedSets();
  #rejectedCount = 0;

  constructor(options: AdjRibInOptions) {
    this.#options = options;
    const { maxReceived } = options;
    this.#received = maxReceived === undefined ? undefined : new ReceivedRoutes(maxReceived);
    this.#table = options.table;
    this.source = options.source;
  }

  /** Our address in the session: a path that has it as next hop is rejected (RFC 4271 section 5.1.3). Set again with each session. */
  get localAddress(): IpAddress | undefined {
    return this.#localAddress;
  }

  set localAddress(address: IpAddress | undefined) {
    this.#localAddress = address;
    this.#loopFree.clear();
  }

  /** How many paths are held, stale ones included. */
  get size(): number {
    let size = 0;
    for (const store of this.#stores.values()) size += store.size;
    return size;
  }

  /** Announcements that were not taken: how many ever, and the last 32, oldest first. */
  get rejected(): { readonly count: number; readonly last: readonly RejectedPath[] } {
    return { count: this.#rejectedCount, last: [...this.#lastRejected] };
  }

  /** How many paths of one family are held, stale ones included. */
  sizeOf(family: Family): number {
    return this.#stores.get(family)?.size ?? 0;
  }

  /** Every path, made when its turn comes. */
  *paths(): IterableIterator<Path> {
    for (const store of this.#stores.values()) {
      for (const entry of store.entries()) yield store.path(entry);
    }
  }

  /** The paths of one prefix: several only with ADD-PATH. */
  pathsOf(prefix: Prefix): readonly Path[] {
    return this.#stores.get(prefix.family)?.pathsOf(prefix) ?? [];
  }

  /**
   * Applies an UPDATE. A prefix that it withdraws and announces counts as announced (RFC 4271 section 4.3).
   * @param now Monotonic milliseconds.
   * @throws NotificationError Cease/Maximum Number of Prefixes Reached when a family would pass `maxPaths` or
   *   `maxReceived`; nothing is changed then (RFC 4486 section 4).
   */
  apply(update: DecodedUpdate, now: number): RouteChange {
    return this.receive(receivedUpdate(update), now, true);
  }

  /**
   * As `apply`, for an UPDATE as it was received: no object is made of a route but for those who are told of it.
   * @param isTold it is asked what changed: otherwise no paths are made for the answer, which names those only that were rejected
   */
  receive(update: ReceivedUpdate, now: number, isTold: boolean): RouteChange {
    const routes = routesOf(update);
    this.#checkLimit(routes);
    this.#received?.count(routes);
    const recalled = this.#recalledNumber(update);
    if (recalled < 0) return this.#take(routes, update.field, recalled, now, isTold);
    // What is withdrawn may have been the last that kept it. Policy is the application's, and may throw.
    this.#table.holdNumber(recalled);
    try {
      return this.#take(routes, undefined, recalled, now, isTold);
    } finally {
      this.#table.releaseNumber(recalled);
    }
  }

  #take(
    { withdrawn, announced }: UpdateRoutes<NlriField>,
    field: AttributeOctets | undefined,
    recalled: number,
    now: number,
    isTold: boolean,
  ): RouteChange {
    const change = new ChangeBuilder(isTold);
    const again = withdrawn.length > 0 && announced.length > 0 ? keysOf(announced) : undefined;
    for (const one of withdrawn) this.#withdrawAll(one, again, change);
    for (const each of announced) {
      const loop = this.#loopOf(each, recalled);
      const announcement = new Announcement(this.#table, { announced: each, field, recalled, loop, now });
      this.#announceAll(announcement, change);
    }
    return change.build();
  }

  /** The number of the attributes where they were recalled from our table, or -1. */
  #recalledNumber({ recalled }: ReceivedUpdate): number {
    return recalled !== undefined && recalled.memory === this.#table ? recalled.number : -1;
  }

  #loopOf(announced: AnnouncedRoutes, recalled: number): string | undefined {
    if (recalled < 0) return loopReason(announced.attributes, this.#options, this.#localAddress);
    const serial = this.#table.serialOf(recalled);
    if (this.#loopFree.has(recalled, serial)) return undefined;
    const loop = loopReason(this.#table.peek(recalled), this.#options, this.#localAddress);
    if (loop === undefined) this.#loopFree.add(recalled, serial);
    return loop;
  }

  /**
   * Marks the paths of a family, or all, as stale: the peer restarts (RFC 4724 section 4.2). When a session is lost while
   * paths are stale from the loss before, call `sweepStale` first.
   */
  markStale(family?: Family): void {
    if (family === undefined) this.#received?.clear();
    for (const store of this.#storesOf(family)) {
      for (const entry of store.entries()) store.markStale(entry);
    }
  }

  /** Removes the paths of a family, or of all, that are still stale. */
  sweepStale(family?: Family): RouteChange {
    return this.#removeWhere(family, (store, entry) => store.isStale(entry));
  }

  /** Removes all paths of a family, or of all. */
  clear(family?: Family): RouteChange {
    return this.#removeWhere(family, () => true);
  }

  /**
   * Import policy decides otherwise than before: removes the paths that it takes no more. It is shown each with the attributes that it
   * gave it. What it would take now and refused before is not kept: that is to be asked for (RFC 2918 section 3).
   */
  reapplyPolicy(): RouteChange {
    const policy = this.#options.importPolicy;
    const refused: RejectedPath[] = [];
    const { withdrawn } = this.#removeWhere(undefined, (store, entry) => {
      const { prefix, pathId, attributes, from } = store.path(entry);
      const verdict = policy?.(prefix, attributes, from) ?? { accept: true };
      if (!verdict.accept) refused.push({ prefix, pathId, reason: verdict.reason });
      return !verdict.accept;
    });
    for (const path of refused) this.#reject(path);
    return { announced: [], withdrawn, rejected: refused };
  }

  #withdrawAll(field: NlriField, again: ReadonlySet<PrefixKey> | undefined, change: ChangeBuilder): void {
    const { family } = field;
    const store = this.#stores.get(family);
    if (store === undefined) return;
    const { words } = store;
    for (let at = 0; at < field.end; ) {
      at = field.readAt(at, words);
      if (again?.has(routeKey(prefixOfWords(family, words), pathIdOfWords(words))) === true) continue;
      this.#withdraw(store, change);
    }
  }

  #announceAll(announcement: Announcement, change: ChangeBuilder): void {
    const { routes: field } = announcement;
    const store = this.#storeOf(field.family);
    const { words } = store;
    const isTaken = announcement.loop === undefined && this.#options.importPolicy === undefined;
    for (let at = 0; at < field.end; ) {
      at = field.readAt(at, words);
      if (isTaken) this.#announce(store, announcement.holdReceived(), announcement.now, change);
      else this.#judge(field.family, store, announcement, change);
    }
  }

  #judge(family: Family, store: PathStore, announcement: Announcement, change: ChangeBuilder): void {
    const { loop } = announcement;
    const { words } = store;
    const prefix = prefixOfWords(family, words);
    const pathId = pathIdOfWords(words);
    const policy = this.#options.importPolicy;
    const verdict =
      loop !== undefined || policy === undefined
        ? { accept: false as const, reason: loop ?? '' }
        : policy(prefix, announcement.received, this.source);
    // Policy is the application's: it may have asked for paths, and `words` are of others then.
    setRouteWords(words, prefix, pathId);
    if (verdict.accept) {
      this.#announce(store, announcement.holdGiven(verdict.attributes), announcement.now, change);
      return;
    }
    // What it replaces is gone too (RFC 4271 section 9.1).
    this.#withdraw(store, change);
    const rejected = { prefix, pathId, reason: verdict.reason };
    change.rejected.push(rejected);
    this.#reject(rejected);
  }

  /** Looks closely only where the UPDATE could pass the limit: what it withdraws makes room, what it repeats counts once. */
  #checkLimit({ withdrawn, announced }: UpdateRoutes<NlriField>): void {
    const { maxPaths } = this.#options;
    if (maxPaths === undefined) return;
    const most = announced.reduce((sum, { routes }) => sum + routes.length, 0);
    if (this.size + most <= maxPaths) return;
    const growth = new Map<Family, number>();
    for (const [intent, { prefix, pathId }] of this.#intentsOf(withdrawn, announced)) {
      const change = (intent === 'announce' ? 1 : 0) - (this.#find(prefix, pathId) < 0 ? 0 : 1);
      growth.set(prefix.family, (growth.get(prefix.family) ?? 0) + change);
    }
    for (const [family, change] of growth) {
      // A limit that was passed before it was lowered does not bar withdrawals.
      if (change > 0 && this.sizeOf(family) + change > maxPaths) throw maximumReached(family, maxPaths);
    }
  }

  /** What the UPDATE does to each route, by route; the last word counts. */
  #intentsOf(
    withdrawn: readonly NlriField[],
    announced: UpdateRoutes<NlriField>['announced'],
  ): Iterable<readonly ['announce' | 'withdraw', RouteId]> {
    const intents = new Map<PrefixKey, readonly ['announce' | 'withdraw', RouteId]>();
    for (const route of withdrawn.flatMap(routeIds))
      intents.set(routeKey(route.prefix, route.pathId), ['withdraw', route]);
    for (const { attributes, routes } of announced) {
      const loop = loopReason(attributes, this.#options, this.localAddress);
      for (const route of routeIds(routes)) {
        const isTaken = loop === undefined && this.#takes(route.prefix, attributes);
        intents.set(routeKey(route.prefix, route.pathId), [isTaken ? 'announce' : 'withdraw', route]);
      }
    }
    return intents.values();
  }

  #takes(prefix: Prefix, attributes: PathAttributes): boolean {
    return this.#options.importPolicy?.(prefix, attributes, this.source).accept ?? true;
  }

  #find(prefix: Prefix, pathId: number): number {
    const store = this.#stores.get(prefix.family);
    if (store === undefined) return -1;
    setRouteWords(store.words, prefix, pathId);
    return store.find(store.words);
  }

  /**
   * Takes the route that stands in the store's `words`.
   * @param attributes their number, with a reference for the route
   */
  #announce(store: PathStore, attributes: number, now: number, change: ChangeBuilder): void {
    const entry = store.findOrAdd(store.words);
    const from = this.source;
    if (entry < 0) {
      store.set(~entry, { attributes, from, learnedAt: now, isStale: false });
      change.add('announced', store, ~entry);
      return;
    }
    const before = store.attributesOf(entry);
    const isSame = before === attributes && isSameSource(store.sourceOf(entry), from);
    this.#table.releaseNumber(before);
    if (isSame && !store.isStale(entry)) return;
    const learnedAt = isSame ? store.learnedAt(entry) : now;
    store.set(entry, { attributes, from, learnedAt, isStale: false });
    change.add(isSame ? 'refreshed' : 'announced', store, entry);
  }

  /** Takes away the route that stands in the store's `words`, where it is there. */
  #withdraw(store: PathStore, change: ChangeBuilder): void {
    const entry = store.find(store.words);
    if (entry >= 0) this.#remove(store, entry, change);
  }

  #reject(rejected: RejectedPath): void {
    this.#rejectedCount += 1;
    this.#lastRejected.push(rejected);
    if (this.#lastRejected.length > REJECTED_KEPT) this.#lastRejected.shift();
  }

  #remove(store: PathStore, entry: number, change: ChangeBuilder): void {
    change.add('withdrawn', store, entry);
    const attributes = store.attributesOf(entry);
    store.remove(entry);
    this.#table.releaseNumber(attributes);
  }

  #removeWhere(
    family: Family | undefined,
    condition: (store: PathStore, entry: number) => boolean,
  ): RouteChange {
    const change = new ChangeBuilder(true);
    for (const store of this.#storesOf(family)) {
      for (const entry of store.entries()) {
        if (condition(store, entry)) this.#remove(store, entry, change);
      }
    }
    return change.build();
  }

  #storesOf(family: Family | undefined): readonly PathStore[] {
    if (family === undefined) return [...this.#stores.values()];
    const store = this.#stores.get(family);
    return store === undefined ? [] : [store];
  }

  #storeOf(family: Family): PathStore {
    const known = this.#stores.get(family);
    if (known !== undefined) return known;
    const store = new PathStore(family, this.#table, this.#options.hashSeed ?? 0);
    this.#stores.set(family, store);
    return store;
  }
}

function keysOf(announced: UpdateRoutes<NlriField>['announced']): ReadonlySet<PrefixKey> {
  const routes = announced.flatMap(({ routes }) => routeIds(routes));
  return new Set(routes.map(({ prefix, pathId }) => routeKey(prefix, pathId)));
}
