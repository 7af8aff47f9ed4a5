import type { Family } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import type { RouterId } from '../types/router-id.ts';
import type { CodecContext } from '../wire/context.ts';
import type { Route, UnsentRoute } from './adj-rib-out.ts';
import type { AttributeTable } from './attribute-table.ts';
import { type GroupRoute, GroupRoutes, type RouteOrigin, type WantedRoute } from './group-routes.ts';
import {
  type Audience,
  BatchBuilder,
  type BatchPart,
  type EncodedUpdates,
  type Holders,
  type UnsentGroupRoute,
} from './update-batch.ts';

/** How much a group encodes at a time, and keeps. */
export interface GroupLimits {
  /** The most routes of a batch. */
  readonly routes: number;
  /** The most sets of attributes of a batch: a message holds one. */
  readonly sets: number;
  /** Octets of batches that are kept for members which may come to want them; for one that is further behind they are made again. */
  readonly octets: number;
  /** So many withdrawn routes are remembered before it is looked which of them some member still has. */
  readonly withdrawn: number;
}

const defaultLimits: GroupLimits = {
  routes: 16_384,
  sets: 4096,
  octets: 4 * 1024 * 1024,
  withdrawn: 1024,
};

/** How far a member, or some of them, has come in the changes of its group. */
interface Position {
  /** Whatever stood at this version or before it has been told. */
  readonly at: number;
  /** What the newest version was then: what had already moved on to a later one than `at` was not told. */
  readonly seen: number;
  /** How many members are here. */
  members: number;
  /** What follows, where it was encoded already. */
  next: Batch | undefined;
}

/** The messages that bring a member from one position to another. */
interface Batch {
  readonly to: Position;
  readonly parts: readonly BatchPart[];
  readonly octets: number;
}

/** A peer of a group. */
export interface GroupPeer {
  /** As in `PathSource`. */
  readonly name: string;
  readonly routerId: RouterId;
}

/**
 * Peers that are told the same routes of a family in the same octets (an update group): what they are to have is kept once,
 * and each change is encoded once. They differ in how far they have come, and in the routes that come from themselves.
 *
 * A member that takes nothing for a while keeps nothing alive but its position: from there it is told the newest state of
 * whatever has changed since.
 */
export class UpdateGroup {
  readonly family: Family;
  readonly #context: CodecContext;
  readonly #routes: GroupRoutes;
  readonly #members = new Set<GroupMember>();
  readonly #unsent = new Map<GroupRoute, UnsentRoute>();
  /** Positions whose `next` is kept, the oldest first. */
  #kept: Position[] = [];
  #keptOctets = 0;
  #start: Position = position(0, 0);
  #lookAtWithdrawn: number;

  readonly #limits: GroupLimits;

  /** @param context of the members: what of it says how messages to them look is the same for all of them */
  constructor(
    family: Family,
    context: CodecContext,
    table: AttributeTable,
    limits: GroupLimits = defaultLimits,
  ) {
    this.#limits = limits;
    this.#lookAtWithdrawn = limits.withdrawn;
    this.family = family;
    this.#context = context;
    this.#routes = new GroupRoutes(table);
  }

  get members(): ReadonlySet<GroupMember> {
    return this.#members;
  }

  /** The version of the newest change. */
  get last(): number {
    return this.#routes.last;
  }

  /** Its routes go with path identifiers. */
  get hasPathIds(): boolean {
    return this.#context.addPathSend.includes(this.family);
  }

  /** Makes these all routes of a prefix. */
  set(key: PrefixKey, prefix: Prefix, wanted: readonly WantedRoute[]): void {
    this.#routes.set(key, prefix, wanted);
    if (this.#routes.withdrawn > this.#lookAtWithdrawn) this.#forgetWithdrawn();
  }

  /** A session is up: the peer has nothing yet. */
  join(peer: GroupPeer): GroupMember {
    const member = new GroupMember(this, peer, this.#start);
    this.#members.add(member);
    this.#start.members += 1;
    return member;
  }

  /** The session is over. */
  leave(member: GroupMember): void {
    if (this.#members.delete(member)) member.position.members -= 1;
  }

  /** What follows a position; `undefined` when nothing does. */
  after(from: Position): Batch | undefined {
    if (from.next !== undefined) return from.next;
    if (from.at >= this.#routes.last) return undefined;
    const batch = this.#encode(from, this.#routes.last, (route) => holdersAt(route, from));
    from.next = batch;
    this.#kept.push(from);
    this.#keptOctets += batch.octets;
    while (this.#keptOctets > this.#limits.octets) this.#dropOldest();
    return batch;
  }

  /** The routes whose last change lies behind `from` and not behind `until`, for who asks for all of them again. */
  again(from: Position, until: number): Batch | undefined {
    return from.at < until ? this.#encode(from, until, () => 'nobody') : undefined;
  }

  /** Takes a member to a position. When all are there, nothing of the past is needed. */
  move(member: GroupMember, to: Position): void {
    member.position.members -= 1;
    member.position = to;
    to.members += 1;
    if (to.members < this.#members.size || to.at < this.#routes.last) return;
    while (this.#kept.length > 0) this.#dropOldest();
    if (this.#routes.withdrawn > 0) this.#forgetWithdrawn();
  }

  /** The routes as they are, with those that cannot be sent. */
  routes(): IterableIterator<GroupRoute> {
    return this.#routes.after(0);
  }

  /** Why a route that was to be sent was not. */
  unsent(): ReadonlyMap<GroupRoute, UnsentRoute> {
    return this.#unsent;
  }

  /** Gives back the attributes of all routes, when no member is left. */
  dispose(): void {
    this.#routes.dispose();
  }

  #encode(from: Position, until: number, holders: (route: GroupRoute) => Holders): Batch {
    const builder = new BatchBuilder(this.family, this.#context);
    let at = until;
    let routes = 0;
    for (const route of this.#routes.after(from.at)) {
      if (route.version > until) break;
      if (routes >= this.#limits.routes || builder.sets >= this.#limits.sets) {
        at = route.version - 1;
        break;
      }
      routes += 1;
      this.#unsent.delete(route);
      builder.add(route, holders(route));
    }
    const { parts, unsent } = builder.build();
    this.#note(unsent);
    const octets = parts.reduce(
      (sum, { updates }) => sum + updates.reduce((most, { bytes }) => most + bytes.length, 0),
      0,
    );
    return { to: position(at, this.#routes.last), parts, octets };
  }

  #note(unsent: readonly UnsentGroupRoute[]): void {
    for (const { of, route, reason } of unsent) this.#unsent.set(of, { route, reason });
  }

  #dropOldest(): void {
    const oldest = this.#kept.shift();
    if (oldest === undefined) return;
    this.#keptOctets -= oldest.next?.octets ?? 0;
    oldest.next = undefined;
  }

  #forgetWithdrawn(): void {
    const versions = new Set<number>();
    for (const { position } of this.#members) versions.add(position.at);
    // Who takes what is encoded already comes to a version at which a withdrawn route was still there.
    for (const { next } of this.#kept) if (next !== undefined) versions.add(next.to.at);
    this.#routes.forgetWithdrawn(versions);
    this.#lookAtWithdrawn = Math.max(this.#limits.withdrawn, 2 * this.#routes.withdrawn);
  }
}

/** One peer of a group, for as long as its session lasts. */
export class GroupMember {
  /** The group's to set. */
  position: Position;
  readonly #group: UpdateGroup;
  readonly #peer: GroupPeer;
  /** What the newest change was when it joined. */
  readonly #joinedAt: number;
  /** How far it has come with what it asked for again, and how far that goes. */
  #again: { position: Position; readonly until: Position } | undefined;

  /** Made by `UpdateGroup.join`. */
  constructor(group: UpdateGroup, peer: GroupPeer, start: Position) {
    this.#group = group;
    this.#peer = peer;
    this.position = start;
    this.#joinedAt = group.last;
  }

  get name(): string {
    return this.#peer.name;
  }

  get family(): Family {
    return this.#group.family;
  }

  /** There is something that `next` has not given yet. */
  get hasNews(): boolean {
    return this.position.at < this.#group.last;
  }

  /** It was given everything that there was when it joined. */
  get hasFirstSet(): boolean {
    return this.position.at >= this.#joinedAt;
  }

  /** Takes the next messages, which count as sent; `undefined` when the peer has everything. */
  next(): readonly EncodedUpdates[] | undefined {
    for (let batch = this.#group.after(this.position); batch !== undefined; ) {
      this.#group.move(this, batch.to);
      const updates = this.#own(batch);
      if (updates.length > 0) return updates;
      batch = this.#group.after(this.position);
    }
    return undefined;
  }

  /** Begins to give everything that it has again, by `nextAgain`; to be called when `next` has nothing (RFC 2918 section 4). */
  refresh(): void {
    this.#again = { position: position(0, 0), until: this.position };
    // What changes meanwhile is to be said also where it makes no difference: the peer may take what it is not told for gone.
    this.#group.move(this, position(this.position.at, Number.POSITIVE_INFINITY));
  }

  /** As `next`, for what is given again, but for what has changed since; until it has nothing `next` must wait. */
  nextAgain(): readonly EncodedUpdates[] | undefined {
    for (const again = this.#again; again !== undefined; ) {
      const batch = this.#group.again(again.position, again.until.at);
      if (batch === undefined) {
        if (!this.hasNews) this.#group.move(this, again.until);
        break;
      }
      again.position = batch.to;
      const updates = this.#own(batch);
      if (updates.length > 0) return updates;
    }
    this.#again = undefined;
    return undefined;
  }

  /** What the peer has been given, but for routes that have changed since. */
  *advertised(): IterableIterator<Route> {
    const unsent = this.#group.unsent();
    for (const route of this.#group.routes()) {
      const { prefix, attributes, origin, pathId = 0, version } = route;
      if (version > this.position.at) return;
      if (attributes === undefined || origin === undefined) continue;
      if (!comesFrom(origin, this.#peer) && !unsent.has(route)) yield { prefix, attributes, pathId };
    }
  }

  /** Routes that no message to it can carry, with the reason of each. */
  get unsent(): readonly UnsentRoute[] {
    return [...this.#group.unsent()].flatMap(([{ origin }, unsent]) =>
      origin === undefined || comesFrom(origin, this.#peer) ? [] : unsent,
    );
  }

  /** The session is over. */
  leave(): void {
    this.#group.leave(this);
  }

  #own({ parts }: Batch): readonly EncodedUpdates[] {
    return parts.flatMap(({ audience, updates }) => (this.#isIn(audience) ? updates : []));
  }

  #isIn({ without, only }: Audience): boolean {
    if (without !== undefined && comesFrom(without, this.#peer)) return false;
    return only === undefined || comesFrom(only, this.#peer);
  }
}

/** The route is not sent back to this peer. */
function comesFrom({ source, originatorId }: RouteOrigin, { name, routerId }: GroupPeer): boolean {
  return source === name || originatorId === routerId;
}

function position(at: number, seen: number): Position {
  return { at, seen, members: 0, next: undefined };
}

/** Who of those at a position has the state that a route had before its last change. */
function holdersAt(route: GroupRoute, { at, seen }: Position): Holders {
  if (route.heldSince > at) return 'nobody';
  if (route.beforeVersion > at || route.version <= seen) return 'unknown';
  return route.beforeOrigin ?? 'nobody';
}
