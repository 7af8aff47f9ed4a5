import type { Prefix, PrefixKey } from '../types/prefix.ts';
import type { RouterId } from '../types/router-id.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import { ChangeJournal } from './change-journal.ts';

/** Where a route comes from: to these two it is not sent back (RFC 4271 section 9.2, RFC 4456 section 8). */
export interface RouteOrigin {
  /** The name of the peer that it was learned from. */
  readonly source: string;
  /** ORIGINATOR_ID of the path as it was learned. */
  readonly originatorId: RouterId | undefined;
}

/** A route that all peers of a group are to have but those that it comes from. */
export interface WantedRoute {
  /** `undefined` where the family goes without path identifiers. */
  readonly pathId: number | undefined;
  /** Interned. */
  readonly attributes: PathAttributes;
  readonly origin: RouteOrigin;
}

/** A route of a group as it is now, and as much of its past as tells what a peer may have of it. */
export interface GroupRoute extends Nlri {
  /** `undefined` once it is withdrawn. The table has a reference. */
  attributes: PathAttributes | undefined;
  /** `undefined` once it is withdrawn. */
  origin: RouteOrigin | undefined;
  version: number;
  /** Who has not come to this version has never been told of it. */
  heldSince: number;
  /** The state before this one: its version, where it came from (`undefined`: it was withdrawn), whether the attributes were these. */
  beforeVersion: number;
  beforeOrigin: RouteOrigin | undefined;
  isSameAsBefore: boolean;
  /** The next path of the same prefix. */
  sibling: GroupRoute | undefined;
}

/**
 * The routes of a group of peers that are told the same, one entry for each of them and not for each peer, in the order of
 * their last change. A withdrawn one is remembered while a peer may have it.
 */
export class GroupRoutes {
  readonly #table: AttributeTable;
  readonly #journal = new ChangeJournal<GroupRoute>();
  /** The paths of each prefix, chained. */
  readonly #byPrefix = new Map<PrefixKey, GroupRoute>();
  readonly #withdrawn = new Map<GroupRoute, PrefixKey>();

  constructor(table: AttributeTable) {
    this.#table = table;
  }

  /** The version of the newest change. */
  get last(): number {
    return this.#journal.last;
  }

  /** How many withdrawn routes are remembered. */
  get withdrawn(): number {
    return this.#withdrawn.size;
  }

  /** Makes these all routes of a prefix. */
  set(key: PrefixKey, prefix: Prefix, wanted: readonly WantedRoute[]): void {
    const first = this.#byPrefix.get(key);
    for (let route = first; route !== undefined; route = route.sibling) {
      const { pathId, attributes } = route;
      if (attributes !== undefined && !wanted.some((each) => each.pathId === pathId))
        this.#withdraw(key, route);
    }
    for (const each of wanted) this.#announce(key, prefix, this.#find(key, each.pathId), each);
  }

  /** What has changed after a version, the oldest change first. */
  after(version: number): IterableIterator<GroupRoute> {
    return this.#journal.after(version);
  }

  /**
   * Forgets the withdrawn routes that no peer has any more.
   * @param versions that the peers have come to, or may come to by what is encoded already
   */
  forgetWithdrawn(versions: ReadonlySet<number>): void {
    for (const [route, key] of this.#withdrawn) {
      const isHeld = [...versions].some((version) => version >= route.heldSince && version < route.version);
      if (!isHeld) this.#forget(key, route);
    }
  }

  /** Gives back all attributes; nothing may follow. */
  dispose(): void {
    for (const { attributes } of this.#journal.after(0)) {
      if (attributes !== undefined) this.#table.release(attributes);
    }
  }

  #find(key: PrefixKey, pathId: number | undefined): GroupRoute | undefined {
    let route = this.#byPrefix.get(key);
    while (route !== undefined && route.pathId !== pathId) route = route.sibling;
    return route;
  }

  #announce(
    key: PrefixKey,
    prefix: Prefix,
    known: GroupRoute | undefined,
    { pathId, attributes, origin }: WantedRoute,
  ): void {
    if (known === undefined) {
      const route: GroupRoute = {
        prefix,
        pathId,
        attributes: this.#table.intern(attributes),
        origin,
        version: 0,
        heldSince: 0,
        beforeVersion: 0,
        beforeOrigin: undefined,
        isSameAsBefore: false,
        sibling: this.#byPrefix.get(key),
      };
      this.#byPrefix.set(key, route);
      this.#journal.append(route);
      route.heldSince = route.version;
      return;
    }
    if (known.attributes === attributes && known.origin === origin) return;
    this.#change(known, this.#table.intern(attributes), origin);
    this.#withdrawn.delete(known);
  }

  #withdraw(key: PrefixKey, route: GroupRoute): void {
    this.#change(route, undefined, undefined);
    this.#withdrawn.set(route, key);
  }

  #change(route: GroupRoute, attributes: PathAttributes | undefined, origin: RouteOrigin | undefined): void {
    route.beforeVersion = route.version;
    route.beforeOrigin = route.origin;
    route.isSameAsBefore = route.attributes === attributes;
    if (route.attributes !== undefined) this.#table.release(route.attributes);
    route.attributes = attributes;
    route.origin = origin;
    this.#journal.append(route);
  }

  #forget(key: PrefixKey, route: GroupRoute): void {
    this.#withdrawn.delete(route);
    this.#journal.remove(route);
    const first = this.#byPrefix.get(key);
    if (first === route) {
      if (route.sibling === undefined) this.#byPrefix.delete(key);
      else this.#byPrefix.set(key, route.sibling);
      return;
    }
    for (let before = first; before !== undefined; before = before.sibling) {
      if (before.sibling === route) before.sibling = route.sibling;
    }
  }
}
