import type { Family } from '../types/family.ts';
import { hashWords } from '../types/hash.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import {
  pathIdOfWords,
  prefixOfWords,
  type RouteWords,
  setRouteWords,
  wordsOf,
} from '../types/route-words.ts';
import type { AttributeTable } from './attribute-table.ts';
import { EntryIndex } from './entry-index.ts';
import type { Path, PathSource } from './path.ts';
import { SourceList } from './source-list.ts';

/** Entries of a page. */
const PAGE = 4096;
const PAGE_BITS = 12;

/** The columns of 4096 entries. */
interface Page {
  readonly routes: Uint32Array;
  /** Number in the table of attributes, plus one; 0 for an entry that is not in use. */
  readonly attributes: Uint32Array;
  readonly sources: Uint32Array;
  readonly learnedAt: Float64Array;
  readonly isStale: Uint8Array;
}

/** What may change of a path: everything but its route. */
export interface PathState {
  /** Number in the table of attributes. The reference is the caller's affair. */
  readonly attributes: number;
  readonly from: PathSource;
  readonly learnedAt: number;
  readonly isStale: boolean;
}

/**
 * The paths of one family from one peer, as columns of numbers rather than objects: a path takes about 60 octets with its
 * share of the index, and the garbage collector sees none of it. A `Path` is made when it is asked for.
 *
 * Entries are numbered; a number stays with its path until the path is removed, and is used again afterwards.
 */
export class PathStore {
  /** Room for one route, for the caller: what is looked for. */
  readonly words: RouteWords;
  readonly #family: Family;
  readonly #table: AttributeTable;
  readonly #seed: number;
  readonly #width: number;
  readonly #pages: Page[] = [];
  readonly #index: EntryIndex<RouteWords>;
  readonly #sources = new SourceList();
  /** A route that is read back from its entry. */
  readonly #stored: RouteWords;
  readonly #free: number[] = [];
  /** Path identifiers other than 0, by prefix. */
  readonly #pathIds = new Map<PrefixKey, Set<number>>();
  /** Entries 0 to here have been in use. */
  #end = 0;

  /** @param seed of the hash, a 32-bit integer */
  constructor(family: Family, table: AttributeTable, seed: number) {
    this.#family = family;
    this.#table = table;
    this.#seed = seed;
    this.#width = wordsOf(family);
    this.words = new Uint32Array(this.#width);
    this.#stored = new Uint32Array(this.#width);
    this.#index = new EntryIndex((entry, route) => this.#matches(entry, route));
  }

  /** How many paths there are. */
  get size(): number {
    return this.#end - this.#free.length;
  }

  /** The entry of a route, or -1. */
  find(route: RouteWords): number {
    return this.#index.find(route, hashWords(route, this.#seed));
  }

  /** The paths of one prefix, in the order of their identifiers' first use, 0 first. */
  pathsOf(prefix: Prefix): Path[] {
    const ids = this.#pathIds.get(prefixKey(prefix)) ?? [];
    const paths: Path[] = [];
    for (const pathId of [0, ...ids]) {
      setRouteWords(this.words, prefix, pathId);
      const entry = this.find(this.words);
      if (entry >= 0) paths.push(this.path(entry));
    }
    return paths;
  }

  /** The entry of a route; where it has none yet, `~entry` of a new one, which must be `set` at once. */
  findOrAdd(route: RouteWords): number {
    const next = this.#free.at(-1) ?? this.#end;
    const entry = this.#index.findOrAdd(route, hashWords(route, this.#seed), next);
    if (entry !== next) return entry;
    if (this.#free.pop() === undefined) this.#end += 1;
    this.#pageFor(entry).routes.set(route, (entry & (PAGE - 1)) * this.#width);
    const pathId = pathIdOfWords(route);
    if (pathId !== 0) this.#addPathId(prefixOfWords(this.#family, route), pathId);
    return ~entry;
  }

  set(entry: number, { attributes, from, learnedAt, isStale }: PathState): void {
    const page = this.#pageOf(entry);
    const at = entry & (PAGE - 1);
    if (page.attributes[at] !== 0) this.#sources.release(page.sources[at] ?? 0);
    page.attributes[at] = attributes + 1;
    page.sources[at] = this.#sources.hold(from);
    page.learnedAt[at] = learnedAt;
    page.isStale[at] = isStale ? 1 : 0;
  }

  remove(entry: number): void {
    const page = this.#pageOf(entry);
    const at = entry & (PAGE - 1);
    const route = this.#routeOf(entry);
    const pathId = pathIdOfWords(route);
    this.#index.remove(entry, hashWords(route, this.#seed));
    if (pathId !== 0) this.#removePathId(prefixOfWords(this.#family, route), pathId);
    page.attributes[at] = 0;
    this.#sources.release(page.sources[at] ?? 0);
    this.#free.push(entry);
    if (this.size === 0) this.#shrink();
  }

  /** The numbers of the entries in use. A removal meanwhile does no harm. */
  *entries(): IterableIterator<number> {
    for (let entry = 0; entry < this.#end; entry++) {
      if (this.#pageOf(entry).attributes[entry & (PAGE - 1)] !== 0) yield entry;
    }
  }

  /** The number of the path's attributes in the table. */
  attributesOf(entry: number): number {
    const attributes = this.#pageOf(entry).attributes[entry & (PAGE - 1)] ?? 0;
    if (attributes === 0) throw new RangeError(`entry ${entry} is not in use`);
    return attributes - 1;
  }

  sourceOf(entry: number): PathSource {
    return this.#sources.at(this.#pageOf(entry).sources[entry & (PAGE - 1)] ?? 0);
  }

  learnedAt(entry: number): number {
    return this.#pageOf(entry).learnedAt[entry & (PAGE - 1)] ?? 0;
  }

  isStale(entry: number): boolean {
    return this.#pageOf(entry).isStale[entry & (PAGE - 1)] === 1;
  }

  markStale(entry: number): void {
    this.#pageOf(entry).isStale[entry & (PAGE - 1)] = 1;
  }

  /** The path of an entry, as a new object. */
  path(entry: number): Path {
    const route = this.#routeOf(entry);
    return {
      prefix: prefixOfWords(this.#family, route),
      pathId: pathIdOfWords(route),
      attributes: this.#table.at(this.attributesOf(entry)),
      from: this.sourceOf(entry),
      learnedAt: this.learnedAt(entry),
      isStale: this.isStale(entry),
    };
  }

  /** What all paths had is given back. */
  #shrink(): void {
    this.#pages.length = 0;
    this.#free.length = 0;
    this.#end = 0;
  }

  #pageFor(entry: number): Page {
    const number = entry >>> PAGE_BITS;
    const known = this.#pages[number];
    if (known !== undefined) return known;
    const page: Page = {
      routes: new Uint32Array(PAGE * this.#width),
      attributes: new Uint32Array(PAGE),
      sources: new Uint32Array(PAGE),
      learnedAt: new Float64Array(PAGE),
      isStale: new Uint8Array(PAGE),
    };
    this.#pages[number] = page;
    return page;
  }

  #pageOf(entry: number): Page {
    const page = this.#pages[entry >>> PAGE_BITS];
    if (page === undefined) throw new RangeError(`entry ${entry} is not in use`);
    return page;
  }

  /** The route of an entry; it is overwritten by the next call. */
  #routeOf(entry: number): RouteWords {
    const { routes } = this.#pageOf(entry);
    const from = (entry & (PAGE - 1)) * this.#width;
    for (let word = 0; word < this.#width; word++) this.#stored[word] = routes[from + word] ?? 0;
    return this.#stored;
  }

  #matches(entry: number, route: RouteWords): boolean {
    const { routes } = this.#pageOf(entry);
    const from = (entry & (PAGE - 1)) * this.#width;
    for (let word = 0; word < route.length; word++) if (routes[from + word] !== route[word]) return false;
    return true;
  }

  #addPathId(prefix: Prefix, pathId: number): void {
    const key = prefixKey(prefix);
    const ids = this.#pathIds.get(key);
    if (ids === undefined) this.#pathIds.set(key, new Set([pathId]));
    else ids.add(pathId);
  }

  #removePathId(prefix: Prefix, pathId: number): void {
    const key = prefixKey(prefix);
    const ids = this.#pathIds.get(key);
    ids?.delete(pathId);
    if (ids?.size === 0) this.#pathIds.delete(key);
  }
}
