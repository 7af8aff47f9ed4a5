import type { Family } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { Route } from './adj-rib-out.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { DecisionOptions } from './decision.ts';
import type { Selection } from './multipath.ts';
import { selectPaths } from './multipath.ts';
import type { Path, RouteChange } from './path.ts';
import { PathIdentifiers } from './path-identifiers.ts';
import type { ReflectionPeer, ReflectorIdentity } from './reflection.ts';
import { passedOnAttributes, reflectionRefusal } from './reflection.ts';
import type { RouteId } from './update-routes.ts';

/** A neighbour that paths are passed on to. */
export interface ReflectorPeer extends ReflectionPeer {
  /** It gets routes of these families. */
  readonly families: readonly Family[];
  /** Of these it gets every usable path with an identifier of its own (RFC 7911), of the others the best one. */
  readonly addPath: readonly Family[];
}

export interface RouteReflectorOptions extends ReflectorIdentity {
  readonly decision?: DecisionOptions;
  /** The table that the Adj-RIB-Ins intern in. */
  readonly table: AttributeTable;
}

/** How the routes of one peer change. */
export interface RouteUpdate {
  readonly announced: readonly Route[];
  readonly withdrawn: readonly RouteId[];
}

/** What a set of attributes becomes when it is passed on; kept while a path has it. */
interface PassedOn {
  references: number;
  readonly byWay: Map<string, PathAttributes>;
}

interface PrefixState {
  readonly prefix: Prefix;
  /** By source and the identifier that it gave the path. */
  readonly paths: Map<string, Path>;
}

interface PeerState {
  readonly peer: ReflectorPeer;
  /** What it was given: path identifiers by prefix, 0 for one without. */
  readonly given: Map<PrefixKey, ReadonlyMap<number, PathAttributes>>;
}

/**
 * A route reflector (RFC 4456): takes the changes of all Adj-RIB-Ins, chooses, and says how the routes of each peer
 * change. The paths of a prefix that a peer with ADD-PATH gets are all that can be used; another gets the best of them.
 */
export class RouteReflector {
  readonly #options: RouteReflectorOptions;
  readonly #prefixes = new Map<PrefixKey, PrefixState>();
  readonly #peers = new Map<string, PeerState>();
  readonly #identifiers = new PathIdentifiers();
  readonly #passedOn = new Map<PathAttributes, PassedOn>();
  /** By name, while they have paths. */
  readonly #sources = new Map<string, { isClient: boolean; paths: number }>();
  #changed = new Map<PrefixKey, Prefix>();

  constructor(options: RouteReflectorOptions) {
    this.#options = options;
  }

  /** Takes a change of the Adj-RIB-In of a peer, which need not be one that gets routes. */
  apply(from: Pick<ReflectionPeer, 'name' | 'isClient'>, change: RouteChange): void {
    const source = this.#sources.get(from.name) ?? { isClient: from.isClient, paths: 0 };
    source.isClient = from.isClient;
    this.#sources.set(from.name, source);
    for (const path of change.withdrawn) if (this.#remove(path)) source.paths -= 1;
    for (const path of change.announced) if (this.#put(path)) source.paths += 1;
    for (const path of change.refreshed ?? []) if (this.#put(path)) source.paths += 1;
    if (source.paths === 0) this.#sources.delete(from.name);
  }

  /** What the options say about the paths of this prefix is not as it was. */
  touch(prefix: Prefix): void {
    this.#changed.set(prefixKey(prefix), prefix);
  }

  /** A session is up: the peer is to have everything. @returns its routes; the changes after it come from `flush` */
  addPeer(peer: ReflectorPeer): readonly Route[] {
    const state: PeerState = { peer, given: new Map() };
    this.#peers.set(peer.name, state);
    const routes: Route[] = [];
    for (const [key, { prefix }] of this.#prefixes) {
      const update: { announced: Route[]; withdrawn: RouteId[] } = { announced: [], withdrawn: [] };
      this.#bring(state, key, prefix, this.select(prefix), update);
      routes.push(...update.announced);
    }
    return routes;
  }

  /** The session is down. Its paths go by `apply`. */
  removePeer(name: string): void {
    this.#peers.delete(name);
  }

  /** The difference that all changes since the last call make, by peer; those without one are left out. */
  flush(): ReadonlyMap<string, RouteUpdate> {
    const changed = this.#changed;
    this.#changed = new Map();
    const updates = new Map([...this.#peers.keys()].map((name) => [name, { announced: [], withdrawn: [] }]));
    for (const [key, prefix] of changed) {
      const selection = this.select(prefix);
      for (const [name, state] of this.#peers) {
        const update = updates.get(name);
        if (update !== undefined) this.#bring(state, key, prefix, selection, update);
      }
    }
    for (const [name, { announced, withdrawn }] of updates) {
      if (announced.length === 0 && withdrawn.length === 0) updates.delete(name);
    }
    return updates;
  }

  /** What the decision process makes of the paths of a prefix. */
  select(prefix: Prefix): Selection {
    const paths = this.#prefixes.get(prefixKey(prefix))?.paths.values() ?? [];
    return selectPaths([...paths], this.#options.decision);
  }

  /** The identifier under which a path that `select` gave is sent to peers with ADD-PATH. */
  pathId(path: Path): number {
    return this.#identifiers.of(path);
  }

  /** The prefixes that there are paths of. */
  *prefixes(): IterableIterator<Prefix> {
    for (const { prefix } of this.#prefixes.values()) yield prefix;
  }

  #bring(
    { peer, given }: PeerState,
    key: PrefixKey,
    prefix: Prefix,
    selection: Selection,
    update: { readonly announced: Route[]; readonly withdrawn: RouteId[] },
  ): void {
    const before = given.get(key);
    const wanted = this.#wanted(peer, prefix, selection);
    for (const pathId of before?.keys() ?? []) {
      if (!wanted.has(pathId)) update.withdrawn.push({ prefix, pathId });
    }
    for (const [pathId, attributes] of wanted) {
      if (before?.get(pathId) !== attributes) update.announced.push({ prefix, attributes, pathId });
    }
    if (wanted.size > 0) given.set(key, wanted);
    else given.delete(key);
  }

  #wanted(peer: ReflectorPeer, prefix: Prefix, { paths }: Selection): ReadonlyMap<number, PathAttributes> {
    const wanted = new Map<number, PathAttributes>();
    if (!peer.families.includes(prefix.family)) return wanted;
    const hasPathIds = peer.addPath.includes(prefix.family);
    for (const { path, reason } of paths) {
      if (reason === 'next hop unreachable' || reason === 'same next hop as a better path') continue;
      const isClient = this.#sources.get(path.from.name)?.isClient === true;
      if (reflectionRefusal(path, { isClient }, peer) !== undefined) {
        // Who learned the best path from itself or may not have it has no use for a worse one.
        if (hasPathIds) continue;
        break;
      }
      wanted.set(hasPathIds ? this.#identifiers.of(path) : 0, this.#attributesFor(path, peer.isInternal));
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
    const state = this.#prefixes.get(key) ?? { prefix: path.prefix, paths: new Map<string, Path>() };
    this.#prefixes.set(key, state);
    const name = pathName(path);
    const before = state.paths.get(name);
    this.#identifiers.take(path);
    this.#hold(path.attributes);
    state.paths.set(name, path);
    if (before !== undefined) this.#forget(before);
    this.#changed.set(key, state.prefix);
    return before === undefined;
  }

  /** @returns Whether it was there. */
  #remove(path: Path): boolean {
    const key = prefixKey(path.prefix);
    const state = this.#prefixes.get(key);
    const known = state?.paths.get(pathName(path));
    if (state === undefined || known === undefined) return false;
    state.paths.delete(pathName(path));
    if (state.paths.size === 0) this.#prefixes.delete(key);
    this.#forget(known);
    this.#changed.set(key, state.prefix);
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

function pathName({ from, pathId }: Path): string {
  return `${pathId} ${from.name}`;
}
