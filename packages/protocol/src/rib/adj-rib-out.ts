import type { Family } from '../types/family.ts';
import { families } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { formatPrefix, prefixKey } from '../types/prefix.ts';
import type { CodecContext, UpdateMessage } from '../wire/message.ts';
import type { Nlri } from '../wire/nlri.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { UnpackedNlri } from './update-packing.ts';
import { packAnnouncements, packWithdrawals } from './update-packing.ts';
import { routeKey } from './update-routes.ts';

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
  unsent: readonly UnsentRoute[];
  /** `wanted` may differ from `sent`. */
  isDirty: boolean;
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
        unsent: [],
        isDirty: false,
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
    // The order counts too: it decides which of several routes of a prefix a peer without ADD-PATH has.
    state.isDirty ||= isChanged || !isSameOrder(before, wanted);
    return isChanged;
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
      if (state !== undefined && (state.isDirty || state.isRefreshWanted)) {
        messages.push(...this.#flushFamily(family, state, context));
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
      state.unsent = [];
      state.isDirty = true;
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
    return [...this.#families.values()].flatMap((state) => state.unsent);
  }

  #flushFamily(family: Family, state: FamilyState, context: CodecContext): readonly UpdateMessage[] {
    const hasPathIds = context.addPathSend.includes(family);
    const { target, unsent } = targetOf(state, hasPathIds);
    const buckets = new Map<PathAttributes, Nlri[]>();
    for (const [key, route] of target) {
      if (!state.isRefreshWanted && state.sent.get(key)?.attributes === route.attributes) continue;
      const nlri = { prefix: route.prefix, pathId: hasPathIds ? route.pathId : undefined };
      const bucket = buckets.get(route.attributes);
      if (bucket === undefined) buckets.set(route.attributes, [nlri]);
      else bucket.push(nlri);
    }
    const announcements: UpdateMessage[] = [];
    for (const [attributes, bucket] of buckets) {
      const packed = packAnnouncements(family, attributes, bucket, context);
      announcements.push(...packed.messages);
      for (const failed of packed.failed) unsent.push(takeFailed(target, failed));
    }
    const gone = [...state.sent].filter(([key]) => !target.has(key)).map(([, route]) => route);
    const withdrawals = gone.map(({ prefix, pathId }) => ({
      prefix,
      pathId: hasPathIds ? pathId : undefined,
    }));
    this.#replaceSent(state, target);
    state.unsent = unsent;
    state.isDirty = false;
    state.isRefreshWanted = false;
    return [...packWithdrawals(family, withdrawals, context), ...announcements];
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
): { target: Map<PrefixKey, HeldRoute>; unsent: UnsentRoute[] } {
  const unsent: UnsentRoute[] = [];
  const target = new Map<PrefixKey, HeldRoute>();
  for (const [key, route] of state.wanted) {
    const wireKey = hasPathIds ? key : prefixKey(route.prefix);
    if (!target.has(wireKey)) {
      target.set(wireKey, route);
      continue;
    }
    const reason = `route ${formatPrefix(route.prefix)} is a second one for its prefix, and ADD-PATH was not negotiated`;
    unsent.push({ route, reason });
  }
  return { target, unsent };
}

function takeFailed(target: Map<PrefixKey, HeldRoute>, { nlri, reason }: UnpackedNlri): UnsentRoute {
  const key = nlri.pathId === undefined ? prefixKey(nlri.prefix) : routeKey(nlri.prefix, nlri.pathId);
  const route = target.get(key);
  if (route === undefined)
    throw new RangeError(`route ${formatPrefix(nlri.prefix)} was packed but is not wanted`);
  target.delete(key);
  return { route, reason: `route ${formatPrefix(nlri.prefix)}: ${reason}` };
}

function isSameOrder(a: ReadonlyMap<PrefixKey, HeldRoute>, b: ReadonlyMap<PrefixKey, HeldRoute>): boolean {
  const keys = b.keys();
  for (const key of a.keys()) if (keys.next().value !== key) return false;
  return true;
}
