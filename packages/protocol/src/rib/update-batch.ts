import type { Family } from '../types/family.ts';
import { formatPrefix } from '../types/prefix.ts';
import type { CodecContext } from '../wire/context.ts';
import { encodeMessage } from '../wire/message-codec.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { UnsentRoute } from './adj-rib-out.ts';
import type { GroupRoute, RouteOrigin } from './group-routes.ts';
import { encodeAnnouncements, packWithdrawals } from './update-packing.ts';

/** Messages are joined up to about this many octets: one write for each of them to each peer. */
const CHUNK_OCTETS = 32_768;

/** Whole UPDATEs, one after another. */
export interface EncodedUpdates {
  readonly bytes: Uint8Array;
  /** How many. */
  readonly count: number;
}

/** Which peers of a group messages are for: those that `without` did not come from and, where `only` is there, that `only` came from. */
export interface Audience {
  readonly without: RouteOrigin | undefined;
  readonly only: RouteOrigin | undefined;
}

/** UPDATEs for one audience. */
export interface BatchPart {
  readonly audience: Audience;
  readonly updates: readonly EncodedUpdates[];
}

/** Which peers have the state of a route before its last change: all but those that it came from, none, or unknown. */
export type Holders = RouteOrigin | 'nobody' | 'unknown';

/** A route of a group that no message can carry. */
export interface UnsentGroupRoute extends UnsentRoute {
  readonly of: GroupRoute;
}

interface Change {
  readonly route: GroupRoute;
  readonly holders: Holders;
}

interface Collected {
  readonly audience: Audience;
  readonly withdrawn: GroupRoute[];
  readonly announced: Map<PathAttributes, Change[]>;
}

/** Puts changes of a group together, by who is to hear of them, and encodes them once for all. */
export class BatchBuilder {
  readonly #family: Family;
  readonly #context: CodecContext;
  readonly #collected = new Map<RouteOrigin | undefined, Map<RouteOrigin | undefined, Collected>>();
  /** Most changes that follow each other are for the same peers. */
  #latest: Collected | undefined;
  /** Sets of attributes that were given, over all audiences. */
  sets = 0;

  constructor(family: Family, context: CodecContext) {
    this.#family = family;
    this.#context = context;
  }

  /** Takes the present state of a route, for peers of which `holders` have the one before. */
  add(route: GroupRoute, holders: Holders): void {
    const { attributes, origin } = route;
    const held = originIn(holders);
    if (attributes !== undefined) {
      // Who has these attributes already, and was not told of them only now that another origin has them, needs no word.
      this.#announce(route, attributes, holders, route.isSameAsBefore ? held : undefined);
    }
    if (holders === 'nobody' || (held !== undefined && held === origin)) return;
    this.#at(held, origin).withdrawn.push(route);
  }

  /** The messages, withdrawals first, and the routes that no message can carry. */
  build(): { readonly parts: readonly BatchPart[]; readonly unsent: readonly UnsentGroupRoute[] } {
    const unsent: UnsentGroupRoute[] = [];
    const announcements = [...this.#all()].flatMap((each) => this.#announcements(each, unsent));
    const withdrawals = [...this.#all()].flatMap((each) => this.#withdrawals(each));
    return { parts: [...withdrawals, ...announcements], unsent };
  }

  #announcements({ audience, announced }: Collected, unsent: UnsentGroupRoute[]): readonly BatchPart[] {
    if (announced.size === 0) return [];
    const chunks = new Chunks();
    for (const [attributes, changes] of announced) {
      const routes = changes.map(({ route }) => route);
      const { messages, failed } = encodeAnnouncements(this.#family, attributes, routes, this.#context);
      for (const message of messages) chunks.add(message);
      if (failed.length === 0) continue;
      const reasons = new Map(failed.map(({ nlri, reason }) => [nlri, reason]));
      for (const change of changes) {
        const reason = reasons.get(change.route);
        if (reason !== undefined) unsent.push(this.#cannotSend(change, attributes, reason));
      }
    }
    return [{ audience, updates: chunks.take() }];
  }

  #cannotSend({ route, holders }: Change, attributes: PathAttributes, reason: string): UnsentGroupRoute {
    const { prefix, pathId = 0 } = route;
    // What they have of it is not what is wanted.
    if (holders !== 'nobody') this.#at(originIn(holders), undefined).withdrawn.push(route);
    return {
      of: route,
      route: { prefix, attributes, pathId },
      reason: `route ${formatPrefix(prefix)}: ${reason}`,
    };
  }

  #withdrawals({ audience, withdrawn }: Collected): readonly BatchPart[] {
    if (withdrawn.length === 0) return [];
    const chunks = new Chunks();
    for (const message of packWithdrawals(this.#family, withdrawn, this.#context)) {
      chunks.add(encodeMessage(message, this.#context));
    }
    return [{ audience, updates: chunks.take() }];
  }

  #announce(
    route: GroupRoute,
    attributes: PathAttributes,
    holders: Holders,
    only: RouteOrigin | undefined,
  ): void {
    const { announced } = this.#at(route.origin, only);
    const change = { route, holders };
    const bucket = announced.get(attributes);
    if (bucket !== undefined) {
      bucket.push(change);
      return;
    }
    announced.set(attributes, [change]);
    this.sets += 1;
  }

  #at(without: RouteOrigin | undefined, only: RouteOrigin | undefined): Collected {
    const latest = this.#latest;
    if (latest !== undefined && latest.audience.without === without && latest.audience.only === only)
      return latest;
    const byOnly = this.#collected.get(without) ?? new Map<RouteOrigin | undefined, Collected>();
    this.#collected.set(without, byOnly);
    const collected = byOnly.get(only) ?? {
      audience: { without, only },
      withdrawn: [],
      announced: new Map(),
    };
    byOnly.set(only, collected);
    this.#latest = collected;
    return collected;
  }

  *#all(): IterableIterator<Collected> {
    for (const byOnly of this.#collected.values()) yield* byOnly.values();
  }
}

function originIn(holders: Holders): RouteOrigin | undefined {
  return typeof holders === 'string' ? undefined : holders;
}

/** Joins messages. */
class Chunks {
  readonly #done: EncodedUpdates[] = [];
  #messages: Uint8Array[] = [];
  #octets = 0;

  add(message: Uint8Array): void {
    this.#messages.push(message);
    this.#octets += message.length;
    if (this.#octets >= CHUNK_OCTETS) this.#finish();
  }

  take(): readonly EncodedUpdates[] {
    if (this.#octets > 0) this.#finish();
    return this.#done;
  }

  #finish(): void {
    const bytes = new Uint8Array(this.#octets);
    let at = 0;
    for (const message of this.#messages) {
      bytes.set(message, at);
      at += message.length;
    }
    this.#done.push({ bytes, count: this.#messages.length });
    this.#messages = [];
    this.#octets = 0;
  }
}
