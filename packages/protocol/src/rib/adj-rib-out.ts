import type { Family } from '../types/family.ts';
import { families } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { formatPrefix, prefixKey } from '../types/prefix.ts';
import type { CodecContext } from '../wire/context.ts';
import type { UpdateMessage } from '../wire/message.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { UnpackedNlri } from './update-packing.ts';
import { packAnnouncements, packWithdrawals } from './update-packing.ts';
import { type RouteId, routeKey } from './update-routes.ts';

/** A route that a peer is to have. */
export interface Route {
  readonly prefix: Prefix;
  readonly attributes: PathAttributes;
  /** The path identifier, sent where ADD-PATH was negotiated (RFC 7911). Default: 0. */
  readonly pathId?: number;
}

/** A wanted route that the peer cannot be sent, and why. The peer does not have the prefix, or this path of it, at all. */
export interface UnsentRoute {
  readonly route: Route;
  /** Names the prefix. */
  readonly reason: string;
}

/** A route with its attributes interned: the holder owns one reference. */
interface HeldRoute extends Route {
  readonly pathId: number;
}

interface FamilyState {
  wanted: Map<PrefixKey, HeldRoute>;
  /** What the peer has, by what names it on the wire: prefix and, with ADD-PATH, path identifier. */
  readonly sent: Map<PrefixKey, HeldRoute>;
  /** By the key in `wanted`. */
  unsent: Map<PrefixKey, UnsentRoute>;
  /** `wanted` may differ from `sent` in any route. */
  isDirty: boolean;
  /** Where not in any, the routes that `wanted` may differ in, by their keys. */
  readonly changed: Map<PrefixKey, RouteId>;
  /** Some of `wanted`, or of what was before the last full look, have another path identifier than 0. */
  hasPathIds: boolean;
  /** Routes that the peer has are sent again. */
  isRefreshWanted: boolean;
}

/**
 * The routes that one peer is to have and those that it has (RFC 4271 section 3.2). `set` says what is wanted; `flush`
 * makes the messages that bring the peer there, and takes them as sent.
 */
export class AdjRibOut {
  readonly #table: AttributeTable;
  readonly #families = new Map<Family, FamilyState>();

  constructor(table: AttributeTable) {
    this.#table = table;
    for (const family of families) {
      this.#families.set(family, {
        wanted: new Map(),
        sent: new Map(),
        unsent: new Map(),
        // Nothing of it was sent yet.
        isDirty: true,
        changed: new Map(),
        hasPathIds: false,
        isRefreshWanted: false,
      });
    }
  }

  /**
   * Makes these the wanted routes of a family, all of them. Where ADD-PATH is not negotiated a prefix has one route;
   * of several, the first is sent.
   * @returns Whether that is another set than before.
   * @throws RangeError naming the prefix of a route that is of another family, or stands twice with one path identifier;
   *   nothing is changed then.
   */
  set(family: Family, routes: readonly Route[]): boolean {
    const state = this.#stateOf(family);
    const given = new Map<PrefixKey, Route>();
    for (const route of routes) {
      const { prefix, pathId = 0 } = route;
      const key = routeKey(prefix, pathId);
      if (prefix.family !== family) {
        throw new RangeError(`route ${formatPrefix(prefix)} is not of family ${family.name}`);
      }
      if (given.has(key)) {
        throw new RangeError(`route ${formatPrefix(prefix)} with path identifier ${pathId} is given twice`);
      }
      given.set(key, route);
    }
    const before = state.wanted;
    const wanted = new Map<PrefixKey, HeldRoute>();
    let isChanged = before.size !== given.size;
    for (const [key, route] of given) {
      const held = this.#hold(route);
      isChanged ||= before.get(key)?.attributes !== held.attributes;
      wanted.set(key, held);
    }
    for (const { attributes } of before.values()) this.#table.release(attributes);
    state.wanted = wanted;
    state.hasPathIds ||= routes.some(({ pathId = 0 }) => pathId !== 0);
    // The order counts too: it decides which of several routes of a prefix a peer without ADD-PATH has.
    state.isDirty ||= isChanged || !isSameOrder(before, wanted);
    return isChanged;
  }

  /**
   * Changes some of the wanted routes: withdraws, then adds or replaces. Its cost is that of the change, not of the table.
   * @throws RangeError naming the prefix of a route of another family; nothing is changed then
   */
  change(family: Family, announced: readonly Route[], withdrawn: readonly RouteId[]): void {
    const state = this.#stateOf(family);
    const stranger = [...announced, ...withdrawn].find(({ prefix }) => prefix.family !== family);
    if (stranger !== undefined) {
      throw new RangeError(`route ${formatPrefix(stranger.prefix)} is not of family ${family.name}`);
    }
    for (const id of withdrawn) this.#want(state, id, undefined);
    for (const route of announced) {
      this.#want(state, { prefix: route.prefix, pathId: route.pathId ?? 0 }, this.#hold(route));
    }
  }

  /**
   * The UPDATEs that bring the peer from what it has to what is wanted, in the families that were negotiated:
   * withdrawals first, then one run of messages for each set of attributes, filled up to `context.maxSendLength`.
   * They count as sent. What cannot be sent is in `unsent` afterwards.
   */
  flush(context: CodecContext): readonly UpdateMessage[] {
    const messages: UpdateMessage[] = [];
    for (const family of context.families) {
      const state = this.#families.get(family);
      if (state === undefined) continue;
      // Which of several routes of a prefix goes out is a question of all of them.
      const isChoice = state.hasPathIds && !context.addPathSend.includes(family);
      if (state.isDirty || state.isRefreshWanted || (isChoice && state.changed.size > 0)) {
        messages.push(...this.#flushFamily(family, state, context));
      } else if (state.changed.size > 0) {
        messages.push(...this.#flushChanged(family, state, context));
      }
    }
    return messages;
  }

  /** The next `flush` sends every wanted route of the family again, changed or not (RFC 2918 section 4). */
  refresh(family: Family): void {
    this.#stateOf(family).isRefreshWanted = true;
  }

  /** A new session: the peer has nothing. */
  reset(): void {
    for (const state of this.#families.values()) {
      for (const { attributes } of state.sent.values()) this.#table.release(attributes);
      state.sent.clear();
      state.unsent.clear();
      state.isDirty = true;
      state.changed.clear();
      state.isRefreshWanted = false;
    }
  }

  /** What the peer has, as far as we have sent it. */
  *advertised(): IterableIterator<Route> {
    for (const { sent } of this.#families.values()) yield* sent.values();
  }

  /** What is wanted of a family. */
  wanted(family: Family): readonly Route[] {
    return [...this.#stateOf(family).wanted.values()];
  }

  /** Wanted routes that the last `flush` could not send, with the reason of each (RFC 8654 section 4 has the commonest). */
  get unsent(): readonly UnsentRoute[] {
    return [...this.#families.values()].flatMap(({ unsent }) => [...unsent.values()]);
  }

  #flushFamily(family: Family, state: FamilyState, context: CodecContext): readonly UpdateMessage[] {
    const hasPathIds = context.addPathSend.includes(family);
    const { target, unsent } = targetOf(state, hasPathIds);
    const changed: HeldRoute[] = [];
    for (const [key, route] of target) {
      if (state.isRefreshWanted || state.sent.get(key)?.attributes !== route.attributes) changed.push(route);
    }
    const { messages, failed } = announcements(family, changed, context);
    for (const { nlri, reason } of failed) {
      const key = wireKey(nlri);
      const route = target.get(key);
      if (route === undefined) continue;
      target.delete(key);
      unsent.set(keyOf(route), unsentRoute(route, reason));
    }
    const gone = [...state.sent].filter(([key]) => !target.has(key)).map(([, route]) => route);
    this.#replaceSent(state, target);
    state.unsent = unsent;
    state.isDirty = false;
    state.isRefreshWanted = false;
    state.changed.clear();
    state.hasPathIds = [...state.wanted.values()].some(({ pathId }) => pathId !== 0);
    return [...withdrawals(family, gone, context), ...messages];
  }

  /** As `flushFamily`, where it is known what has changed, and each wanted route has a name of its own on the wire. */
  #flushChanged(family: Family, state: FamilyState, context: CodecContext): readonly UpdateMessage[] {
    const changed: HeldRoute[] = [];
    const gone: HeldRoute[] = [];
    for (const key of state.changed.keys()) {
      const wanted = state.wanted.get(key);
      const sent = state.sent.get(key);
      state.unsent.delete(key);
      if (wanted === undefined) {
        if (sent !== undefined) gone.push(sent);
      } else if (sent?.attributes !== wanted.attributes) changed.push(wanted);
    }
    state.changed.clear();
    const { messages, failed } = announcements(family, changed, context);
    const reasons = new Map(failed.map(({ nlri, reason }) => [wireKey(nlri), reason]));
    for (const route of changed) {
      const key = keyOf(route);
      const reason = reasons.get(key);
      const sent = state.sent.get(key);
      if (reason === undefined) {
        this.#table.intern(route.attributes);
        state.sent.set(key, route);
        if (sent !== undefined) this.#table.release(sent.attributes);
      } else {
        state.unsent.set(key, unsentRoute(route, reason));
        if (sent !== undefined) gone.push(sent);
      }
    }
    const made = withdrawals(family, gone, context);
    for (const route of gone) {
      state.sent.delete(keyOf(route));
      this.#table.release(route.attributes);
    }
    return [...made, ...messages];
  }

  #want(state: FamilyState, id: RouteId, route: HeldRoute | undefined): void {
    const key = routeKey(id.prefix, id.pathId);
    const before = state.wanted.get(key);
    if (route === undefined) state.wanted.delete(key);
    else state.wanted.set(key, route);
    if (before !== undefined) this.#table.release(before.attributes);
    state.hasPathIds ||= id.pathId !== 0;
    if (!state.isDirty) state.changed.set(key, id);
  }

  #replaceSent(state: FamilyState, target: ReadonlyMap<PrefixKey, HeldRoute>): void {
    const before = [...state.sent.values()];
    state.sent.clear();
    for (const [key, route] of target) state.sent.set(key, this.#hold(route));
    for (const { attributes } of before) this.#table.release(attributes);
  }

  #hold({ prefix, attributes, pathId = 0 }: Route): HeldRoute {
    return { prefix, attributes: this.#table.intern(attributes), pathId };
  }

  #stateOf(family: Family): FamilyState {
    const state = this.#families.get(family);
    if (state === undefined) throw new RangeError(`family ${family.name} is not carried`);
    return state;
  }
}

/** What the peer should have, by wire key. Without path identifiers that is the first route of each prefix. */
function targetOf(
  state: FamilyState,
  hasPathIds: boolean,
): { target: Map<PrefixKey, HeldRoute>; unsent: Map<PrefixKey, UnsentRoute> } {
  const unsent = new Map<PrefixKey, UnsentRoute>();
  const target = new Map<PrefixKey, HeldRoute>();
  for (const [key, route] of state.wanted) {
    const name = hasPathIds ? key : prefixKey(route.prefix);
    if (!target.has(name)) {
      target.set(name, route);
      continue;
    }
    const reason = `route ${formatPrefix(route.prefix)} is a second one for its prefix, and ADD-PATH was not negotiated`;
    unsent.set(key, { route, reason });
  }
  return { target, unsent };
}

/** The UPDATEs for these routes, those of one set of attributes together. */
function announcements(
  family: Family,
  routes: readonly HeldRoute[],
  context: CodecContext,
): { readonly messages: readonly UpdateMessage[]; readonly failed: readonly UnpackedNlri[] } {
  const hasPathIds = context.addPathSend.includes(family);
  const buckets = new Map<PathAttributes, Nlri[]>();
  for (const { prefix, pathId, attributes } of routes) {
    const nlri = { prefix, pathId: hasPathIds ? pathId : undefined };
    const bucket = buckets.get(attributes);
    if (bucket === undefined) buckets.set(attributes, [nlri]);
    else bucket.push(nlri);
  }
  const messages: UpdateMessage[] = [];
  const failed: UnpackedNlri[] = [];
  for (const [attributes, bucket] of buckets) {
    const packed = packAnnouncements(family, attributes, bucket, context);
    messages.push(...packed.messages);
    failed.push(...packed.failed);
  }
  return { messages, failed };
}

function withdrawals(
  family: Family,
  routes: readonly HeldRoute[],
  context: CodecContext,
): readonly UpdateMessage[] {
  const hasPathIds = context.addPathSend.includes(family);
  const nlri = routes.map(({ prefix, pathId }) => ({ prefix, pathId: hasPathIds ? pathId : undefined }));
  return packWithdrawals(family, nlri, context);
}

function unsentRoute(route: HeldRoute, reason: string): UnsentRoute {
  return { route, reason: `route ${formatPrefix(route.prefix)}: ${reason}` };
}

/** What names a route in the message. */
function wireKey({ prefix, pathId }: Nlri): PrefixKey {
  return routeKey(prefix, pathId ?? 0);
}

function keyOf({ prefix, pathId }: HeldRoute): PrefixKey {
  return routeKey(prefix, pathId);
}

function isSameOrder(a: ReadonlyMap<PrefixKey, HeldRoute>, b: ReadonlyMap<PrefixKey, HeldRoute>): boolean {
  const keys = b.keys();
  for (const key of a.keys()) if (keys.next().value !== key) return false;
  return true;
}
