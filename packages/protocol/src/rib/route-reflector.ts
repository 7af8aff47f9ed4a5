import type { Family } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { RouterId } from '../types/router-id.ts';
import type { CodecContext } from '../wire/context.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { DecisionOptions } from './decision.ts';
import type { RouteOrigin, WantedRoute } from './group-routes.ts';
import type { Selection } from './multipath.ts';
import { selectPaths } from './multipath.ts';
import type { Path, RouteChange } from './path.ts';
import { PathIdentifiers } from './path-identifiers.ts';
import type { ReflectionPeer, ReflectorIdentity } from './reflection.ts';
import { kindRefusal, passedOnAttributes } from './reflection.ts';
import { type GroupLimits, type GroupMember, UpdateGroup } from './update-group.ts';

/** A neighbor that paths are passed on to. */
export interface ReflectorPeer extends ReflectionPeer {
  /**
   * What its session agreed on: it gets routes of these families; with ADD-PATH every usable path with an identifier of its
   * own (RFC 7911), else the best one.
   */
  readonly context: CodecContext;
}

export interface RouteReflectorOptions extends ReflectorIdentity {
  readonly decision?: DecisionOptions;
  /** The table that the Adj-RIB-Ins intern in. */
  readonly table: AttributeTable;
  /** Of the groups of peers that are told the same. */
  readonly groupLimits?: GroupLimits;
}

/** What a set of attributes becomes when it is passed on; kept while a path has it. */
interface PassedOn {
  references: number;
  readonly byWay: Map<string, PathAttributes>;
}

interface PrefixState {
  readonly key: PrefixKey;
  readonly prefix: Prefix;
  /** At most one of each source and identifier that it gave; few, so that they are looked through. */
  readonly paths: Path[];
}

/** A peer that paths come from, while it has any. */
interface Source {
  isClient: boolean;
  paths: number;
  /** By the ORIGINATOR_ID of its paths. */
  readonly origins: Map<RouterId | undefined, RouteOrigin>;
}

/** Peers that are told the same of a family. */
interface Group {
  readonly group: UpdateGroup;
  readonly isInternal: boolean;
  readonly isClient: boolean;
  readonly zone: string | undefined;
}

/**
 * A route reflector (RFC 4456): takes the changes of all Adj-RIB-Ins, chooses, and tells peers of it in groups that share
 * what they are told. The paths of a prefix that a peer with ADD-PATH gets are all that can be used; another gets the best of them.
 */
export class RouteReflector {
  readonly #options: RouteReflectorOptions;
  readonly #prefixes = new Map<PrefixKey, PrefixState>();
  /** By what their members have in common. */
  readonly #groups = new Map<string, Group>();
  readonly #members = new Map<string, readonly { readonly member: GroupMember; readonly kind: string }[]>();
  readonly #identifiers = new PathIdentifiers();
  readonly #passedOn = new Map<PathAttributes, PassedOn>();
  /** By name, while they have paths. */
  readonly #sources = new Map<string, Source>();
  /** Of these, one without paths is forgotten by the next `flush`. */
  #changed = new Set<PrefixState>();

  constructor(options: RouteReflectorOptions) {
    this.#options = options;
  }

  /** Takes a change of the Adj-RIB-In of a peer, which need not be one that gets routes. */
  apply(from: Pick<ReflectionPeer, 'name' | 'isClient'>, change: RouteChange): void {
    const source = this.#sources.get(from.name) ?? { isClient: from.isClient, paths: 0, origins: new Map() };
    source.isClient = from.isClient;
    this.#sources.set(from.name, source);
    for (const path of change.withdrawn) if (this.#remove(path)) source.paths -= 1;
    for (const path of change.announced) if (this.#put(path)) source.paths += 1;
    for (const path of change.refreshed ?? []) if (this.#put(path)) source.paths += 1;
    if (source.paths === 0) this.#sources.delete(from.name);
  }

  /** What the options say about the paths of this prefix is not as it was. */
  touch(prefix: Prefix): void {
    const state = this.#prefixes.get(prefixKey(prefix));
    if (state !== undefined) this.#changed.add(state);
  }

  /** A session is up: the peer is to have everything. @returns what it is to be sent, by family */
  addPeer(peer: ReflectorPeer): readonly GroupMember[] {
    this.removePeer(peer.name);
    const joined = peer.context.families.map((family) => {
      const kind = kindOf(family, peer);
      const { group } = this.#groups.get(kind) ?? this.#newGroup(kind, family, peer);
      return { member: group.join(peer), kind };
    });
    this.#members.set(peer.name, joined);
    return joined.map(({ member }) => member);
  }

  /** The session is down. Its paths go by `apply`. */
  removePeer(name: string): void {
    for (const { member, kind } of this.#members.get(name) ?? []) {
      member.leave();
      const group = this.#groups.get(kind)?.group;
      if (group === undefined || group.members.size > 0) continue;
      group.dispose();
      this.#groups.delete(kind);
    }
    this.#members.delete(name);
  }

  /** Has all changes since the last call passed on. @returns the members that there is something for */
  flush(): readonly GroupMember[] {
    const changed = this.#changed;
    this.#changed = new Set();
    for (const { key, prefix, paths } of changed) {
      const selection = selectPaths(paths, this.#options.decision);
      for (const to of this.#groups.values()) {
        if (to.group.family === prefix.family) to.group.set(key, prefix, this.#wanted(to, selection));
      }
      if (paths.length === 0) this.#prefixes.delete(key);
    }
    return [...this.#groups.values()].flatMap(({ group }) =>
      [...group.members].filter(({ hasNews }) => hasNews),
    );
  }

  /** What the decision process makes of the paths of a prefix. */
  select(prefix: Prefix): Selection {
    return selectPaths(this.#prefixes.get(prefixKey(prefix))?.paths ?? [], this.#options.decision);
  }

  /** The identifier under which a path that `select` gave is sent to peers with ADD-PATH. */
  pathId(path: Path): number {
    return this.#identifiers.of(path);
  }

  /** The prefixes that there are paths of. */
  *prefixes(): IterableIterator<Prefix> {
    for (const { prefix, paths } of this.#prefixes.values()) if (paths.length > 0) yield prefix;
  }

  /** A group with all that there is for it. */
  #newGroup(kind: string, family: Family, peer: ReflectorPeer): Group {
    const { context, isInternal, isClient, zone } = peer;
    const { table, groupLimits } = this.#options;
    const group = new UpdateGroup(family, context, table, groupLimits);
    const made = { group, isInternal, isClient, zone };
    for (const [key, { prefix }] of this.#prefixes) {
      if (prefix.family === family) made.group.set(key, prefix, this.#wanted(made, this.select(prefix)));
    }
    this.#groups.set(kind, made);
    return made;
  }

  #wanted(to: Group, { paths }: Selection): readonly WantedRoute[] {
    const wanted: WantedRoute[] = [];
    const { hasPathIds } = to.group;
    for (const { path, reason } of paths) {
      if (reason === 'next hop unreachable' || reason === 'same next hop as a better path') continue;
      const source = this.#sources.get(path.from.name);
      if (kindRefusal(path, { isClient: source?.isClient === true }, to) === undefined) {
        const attributes = this.#attributesFor(path, to.isInternal);
        const pathId = hasPathIds ? this.#identifiers.of(path) : undefined;
        wanted.push({ pathId, attributes, origin: originOf(path, source) });
      }
      // Who learned the best path from itself or may not have it has no use for a worse one.
      if (!hasPathIds) break;
    }
    return wanted;
  }

  #attributesFor(path: Path, toInternal: boolean): PathAttributes {
    const { from, attributes } = path;
    const way = toInternal ? `${from.isInternal} ${from.routerId}` : 'external';
    const passedOn = this.#passedOn.get(attributes);
    const known = passedOn?.byWay.get(way);
    if (known !== undefined) return known;
    const made = this.#options.table.intern(passedOnAttributes(path, toInternal, this.#options));
    passedOn?.byWay.set(way, made);
    return made;
  }

  /** @returns Whether it is one more than before. */
  #put(path: Path): boolean {
    const key = prefixKey(path.prefix);
    const state = this.#prefixes.get(key) ?? { key, prefix: path.prefix, paths: [] };
    if (state.paths.length === 0) this.#prefixes.set(key, state);
    const at = indexIn(state.paths, path);
    const before = state.paths[at];
    this.#identifiers.take(path);
    this.#hold(path.attributes);
    if (before === undefined) state.paths.push(path);
    else state.paths[at] = path;
    if (before !== undefined) this.#forget(before);
    this.#changed.add(state);
    return before === undefined;
  }

  /** @returns Whether it was there. */
  #remove(path: Path): boolean {
    const state = this.#prefixes.get(prefixKey(path.prefix));
    if (state === undefined) return false;
    const [known] = state.paths.splice(indexIn(state.paths, path), 1);
    if (known === undefined) return false;
    this.#forget(known);
    this.#changed.add(state);
    return true;
  }

  #forget(path: Path): void {
    this.#identifiers.release(path);
    const passedOn = this.#passedOn.get(path.attributes);
    if (passedOn === undefined) return;
    passedOn.references -= 1;
    if (passedOn.references > 0) return;
    this.#passedOn.delete(path.attributes);
    for (const made of passedOn.byWay.values()) this.#options.table.release(made);
  }

  #hold(attributes: PathAttributes): void {
    const passedOn = this.#passedOn.get(attributes);
    if (passedOn === undefined) this.#passedOn.set(attributes, { references: 1, byWay: new Map() });
    else passedOn.references += 1;
  }
}

/** What peers must have in common to be told the same in the same octets. */
function kindOf(family: Family, { isInternal, isClient, context, zone = '' }: ReflectorPeer): string {
  return [
    family.name,
    isInternal ? `internal ${isClient ? 'client' : 'non-client'}` : 'external',
    context.asn4 ? 'as4' : 'as2',
    context.addPathSend.includes(family) ? 'add-path' : 'single',
    context.maxSendLength,
    zone,
  ].join(' ');
}

function originOf({ from, attributes }: Path, source: Source | undefined): RouteOrigin {
  const { originatorId } = attributes;
  const origin = source?.origins.get(originatorId) ?? { source: from.name, originatorId };
  source?.origins.set(originatorId, origin);
  return origin;
}

/** Where the path of the same source and identifier is; the end where there is none. */
function indexIn(paths: readonly Path[], { from, pathId }: Path): number {
  const at = paths.findIndex((each) => each.pathId === pathId && each.from.name === from.name);
  return at < 0 ? paths.length : at;
}
