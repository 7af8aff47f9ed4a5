import type { Asn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import { equalIpAddress } from '../types/ip-address.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { RouterId } from '../types/router-id.ts';
import { NotificationError } from '../wire/errors.ts';
import type { DecodedUpdate } from '../wire/message.ts';
import { CeaseSubcode, NotificationCode } from '../wire/notification-codes.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import { loopReason } from './loop-detection.ts';
import type { ImportPolicy, Path, PathSource, RejectedPath, RouteChange } from './path.ts';
import type { RouteId } from './update-routes.ts';
import { routeKey, routesOf } from './update-routes.ts';

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
  /** With it, a path that has this AS in its AS_PATH is rejected (RFC 4271 section 9.1.2). */
  readonly localAsn?: Asn;
  /** With it, a path that has it as ORIGINATOR_ID is rejected (RFC 4456 section 8). */
  readonly routerId?: RouterId;
  /** With it, a path that has it in its CLUSTER_LIST is rejected (RFC 4456 section 8). */
  readonly clusterId?: RouterId;
}

type Announcement = RouteId & { readonly kind: 'announce'; readonly attributes: PathAttributes };

/** What one UPDATE does to one route, decided before anything is changed. */
type Intent =
  | Announcement
  | (RouteId & { readonly kind: 'withdraw' })
  | (RouteId & { readonly kind: 'reject'; readonly reason: string });

/** Received attributes to interned ones. */
type InternedOnce = Map<PathAttributes, PathAttributes>;

/** The change that is being put together. */
class ChangeBuilder {
  readonly announced: Path[] = [];
  readonly withdrawn: Path[] = [];
  readonly rejected: RejectedPath[] = [];
  readonly refreshed: Path[] = [];

  build(): RouteChange {
    const { announced, withdrawn, rejected, refreshed } = this;
    return { announced, withdrawn, rejected, ...(refreshed.length > 0 && { refreshed }) };
  }
}

/**
 * The routes that one peer has announced and that import policy took (RFC 4271 section 3.2). It outlives a session when
 * the peer restarts gracefully: `markStale`, then `source` for the new session, then `sweepStale`.
 */
export class AdjRibIn {
  /** The peer, as paths learned from now on show it. Set anew when a session with another BGP Identifier follows. */
  source: PathSource;
  readonly #options: AdjRibInOptions;
  readonly #table: AttributeTable;
  readonly #paths = new Map<PrefixKey, Map<number, Path>>();
  readonly #sizes = new Map<Family, number>();
  readonly #lastRejected: RejectedPath[] = [];
  #size = 0;
  #rejectedCount = 0;

  constructor(options: AdjRibInOptions) {
    this.#options = options;
    this.#table = options.table;
    this.source = options.source;
  }

  /** How many paths are held, stale ones included. */
  get size(): number {
    return this.#size;
  }

  /** Announcements that were not taken: how many ever, and the last 32, oldest first. */
  get rejected(): { readonly count: number; readonly last: readonly RejectedPath[] } {
    return { count: this.#rejectedCount, last: [...this.#lastRejected] };
  }

  /** How many paths of one family are held, stale ones included. */
  sizeOf(family: Family): number {
    return this.#sizes.get(family) ?? 0;
  }

  *paths(): IterableIterator<Path> {
    for (const paths of this.#paths.values()) yield* paths.values();
  }

  /** The paths of one prefix: several only with ADD-PATH. */
  pathsOf(prefix: Prefix): readonly Path[] {
    return [...(this.#paths.get(prefixKey(prefix))?.values() ?? [])];
  }

  /**
   * Applies an UPDATE. A prefix that it withdraws and announces counts as announced (RFC 4271 section 4.3).
   * @param now Monotonic milliseconds.
   * @throws NotificationError Cease/Maximum Number of Prefixes Reached when a family would pass `maxPaths`; nothing is
   *   changed then (RFC 4486 section 4).
   */
  apply(update: DecodedUpdate, now: number): RouteChange {
    const intents = this.#intentsOf(update);
    this.#checkLimit(intents);
    const change = new ChangeBuilder();
    const interned: InternedOnce = new Map();
    for (const intent of intents) {
      if (intent.kind === 'announce') {
        this.#announce(intent, now, interned, change);
        continue;
      }
      const path = this.#pathOf(intent.prefix, intent.pathId);
      if (path !== undefined) {
        this.#remove(path);
        change.withdrawn.push(path);
      }
      if (intent.kind === 'reject') {
        const { prefix, pathId, reason } = intent;
        change.rejected.push({ prefix, pathId, reason });
        this.#reject({ prefix, pathId, reason });
      }
    }
    return change.build();
  }

  /**
   * Marks the paths of a family, or all, as stale: the peer restarts (RFC 4724 section 4.2). When a session is lost while
   * paths are stale from the loss before, call `sweepStale` first.
   */
  markStale(family?: Family): void {
    for (const paths of this.#paths.values()) {
      for (const path of paths.values()) {
        if (path.isStale || (family !== undefined && path.prefix.family !== family)) continue;
        paths.set(path.pathId, { ...path, isStale: true });
      }
    }
  }

  /** Removes the paths of a family, or of all, that are still stale. */
  sweepStale(family?: Family): RouteChange {
    return this.#removeWhere(
      (path) => path.isStale && (family === undefined || path.prefix.family === family),
    );
  }

  /** Removes all paths of a family, or of all. */
  clear(family?: Family): RouteChange {
    return this.#removeWhere((path) => family === undefined || path.prefix.family === family);
  }

  #intentsOf(update: DecodedUpdate): readonly Intent[] {
    const intents = new Map<PrefixKey, Intent>();
    const { withdrawn, announced } = routesOf(update);
    for (const route of withdrawn) {
      intents.set(routeKey(route.prefix, route.pathId), { ...route, kind: 'withdraw' });
    }
    for (const { attributes, routes } of announced) {
      const loop = loopReason(attributes, this.#options);
      for (const route of routes) {
        intents.set(routeKey(route.prefix, route.pathId), this.#judge(route, attributes, loop));
      }
    }
    return [...intents.values()];
  }

  #judge(route: RouteId, attributes: PathAttributes, loop: string | undefined): Intent {
    if (loop !== undefined) return { ...route, kind: 'reject', reason: loop };
    const policy = this.#options.importPolicy;
    if (policy === undefined) return { ...route, kind: 'announce', attributes };
    const verdict = policy(route.prefix, attributes, this.source);
    return verdict.accept
      ? { ...route, kind: 'announce', attributes: verdict.attributes }
      : { ...route, kind: 'reject', reason: verdict.reason };
  }

  #checkLimit(intents: readonly Intent[]): void {
    const { maxPaths } = this.#options;
    if (maxPaths === undefined) return;
    const growth = new Map<Family, number>();
    for (const { kind, prefix, pathId } of intents) {
      const change = (kind === 'announce' ? 1 : 0) - (this.#pathOf(prefix, pathId) === undefined ? 0 : 1);
      growth.set(prefix.family, (growth.get(prefix.family) ?? 0) + change);
    }
    for (const [family, change] of growth) {
      // A limit that was passed before it was lowered does not bar withdrawals.
      if (change > 0 && this.sizeOf(family) + change > maxPaths) throw maximumReached(family, maxPaths);
    }
  }

  #pathOf(prefix: Prefix, pathId: number): Path | undefined {
    return this.#paths.get(prefixKey(prefix))?.get(pathId);
  }

  /** @param interned What the attribute objects of this UPDATE have become, so that each is interned by its value once. */
  #announce(intent: Announcement, now: number, interned: InternedOnce, change: ChangeBuilder): void {
    const { prefix, pathId } = intent;
    const known = interned.get(intent.attributes) ?? intent.attributes;
    const attributes = this.#table.intern(known);
    interned.set(intent.attributes, attributes);
    const previous = this.#pathOf(prefix, pathId);
    const isSame =
      previous !== undefined &&
      previous.attributes === attributes &&
      isSameSource(previous.from, this.source);
    const learnedAt = isSame ? previous.learnedAt : now;
    if (previous !== undefined) this.#table.release(previous.attributes);
    if (isSame && !previous.isStale) return;
    const path: Path = { prefix, pathId, attributes, from: this.source, learnedAt, isStale: false };
    this.#put(path, previous === undefined);
    (isSame ? change.refreshed : change.announced).push(path);
  }

  #put(path: Path, isNew: boolean): void {
    const key = prefixKey(path.prefix);
    const paths = this.#paths.get(key) ?? new Map<number, Path>();
    this.#paths.set(key, paths.set(path.pathId, path));
    if (isNew) this.#count(path.prefix.family, 1);
  }

  #reject(rejected: RejectedPath): void {
    this.#rejectedCount += 1;
    this.#lastRejected.push(rejected);
    if (this.#lastRejected.length > REJECTED_KEPT) this.#lastRejected.shift();
  }

  #remove(path: Path): void {
    const key = prefixKey(path.prefix);
    const paths = this.#paths.get(key);
    paths?.delete(path.pathId);
    if (paths?.size === 0) this.#paths.delete(key);
    this.#table.release(path.attributes);
    this.#count(path.prefix.family, -1);
  }

  #removeWhere(condition: (path: Path) => boolean): RouteChange {
    const change = new ChangeBuilder();
    for (const path of this.paths()) {
      if (!condition(path)) continue;
      this.#remove(path);
      change.withdrawn.push(path);
    }
    return change.build();
  }

  #count(family: Family, change: number): void {
    this.#size += change;
    this.#sizes.set(family, this.sizeOf(family) + change);
  }
}

function isSameSource(a: PathSource, b: PathSource): boolean {
  if (a === b) return true;
  return (
    a.name === b.name &&
    a.routerId === b.routerId &&
    a.asn === b.asn &&
    a.isInternal === b.isInternal &&
    equalIpAddress(a.address, b.address)
  );
}

/** Data of the NOTIFICATION: AFI, SAFI, and the limit in four octets (RFC 4486 section 4). */
function maximumReached(family: Family, maxPaths: number): NotificationError {
  const data = new Uint8Array(7);
  const view = new DataView(data.buffer);
  view.setUint16(0, family.afi);
  view.setUint8(2, family.safi);
  view.setUint32(3, Math.min(maxPaths, 0xffffffff));
  return new NotificationError(NotificationCode.Cease, CeaseSubcode.MaximumNumberOfPrefixesReached, data);
}
