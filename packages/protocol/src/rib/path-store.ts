import type { Family } from '../types/family.ts';
import type { Prefix, PrefixKey } from '../types/prefix.ts';
import { prefixKey } from '../types/prefix.ts';
import type { PathAttributes } from '../wire/path-attributes.ts';
import type { Path, PathSource } from './path.ts';
import { hashKey, type KeyWords, PathIndex } from './path-index.ts';

/** Entries of a page. */
const PAGE = 4096;
const PAGE_BITS = 12;

/** The columns of 4096 entries. */
interface Page {
  readonly keys: Uint32Array;
  readonly attributes: (PathAttributes | undefined)[];
  readonly sources: (PathSource | undefined)[];
  readonly learnedAt: Float64Array;
  readonly isStale: Uint8Array;
}

/**
 * The paths of one family from one peer, as columns rather than objects: a path takes about 60 octets, and the garbage
 * collector sees two references of it. A `Path` is made when it is asked for.
 *
 * Entries are numbered; a number stays with its path until the path is removed, and is used again afterwards.
 */
export class PathStore {
  readonly #family: Family;
  readonly #seed: number;
  /** Words of a key: the address, the length, the path identifier. */
  readonly #width: number;
  readonly #pages: Page[] = [];
  readonly #index: PathIndex;
  /** The key that is being looked for. */
  readonly #key: KeyWords;
  /** A key that is read back from its entry. */
  readonly #stored: KeyWords;
  readonly #free: number[] = [];
  /** Path identifiers other than 0, by prefix. */
  readonly #pathIds = new Map<PrefixKey, Set<number>>();
  /** Entries 0 to here have been in use. */
  #end = 0;

  /** @param seed of the hash, a 32-bit integer */
  constructor(family: Family, seed: number) {
    this.#family = family;
    this.#seed = seed;
    this.#width = family.maxPrefixLength / 32 + 2;
    this.#key = new Uint32Array(this.#width);
    this.#stored = new Uint32Array(this.#width);
    this.#index = new PathIndex((entry, key) => this.#matches(entry, key));
  }

  /** How many paths there are. */
  get size(): number {
    return this.#end - this.#free.length;
  }

  /** The entry of a route, or -1. */
  find(prefix: Prefix, pathId: number): number {
    const key = this.#setKey(prefix, pathId);
    return this.#index.find(key, hashKey(key, this.#seed));
  }

  /** The paths of one prefix, in the order of their identifiers' first use, 0 first. */
  pathsOf(prefix: Prefix): Path[] {
    const ids = this.#pathIds.get(prefixKey(prefix)) ?? [];
    const entries = [0, ...ids].map((pathId) => this.find(prefix, pathId));
    return entries.filter((entry) => entry >= 0).map((entry) => this.path(entry));
  }

  /** The entry of a route; where it has none yet, `~entry` of a new one, which must be `set` at once. */
  findOrAdd(prefix: Prefix, pathId: number): number {
    const key = this.#setKey(prefix, pathId);
    const next = this.#free.at(-1) ?? this.#end;
    const entry = this.#index.findOrAdd(key, hashKey(key, this.#seed), next);
    if (entry !== next) return entry;
    if (this.#free.pop() === undefined) this.#end += 1;
    this.#pageFor(entry).keys.set(key, (entry & (PAGE - 1)) * this.#width);
    if (pathId !== 0) this.#addPathId(prefix, pathId);
    return ~entry;
  }

  /** Gives an entry what may change of its path: everything but its route. */
  set(entry: number, { attributes, from, learnedAt, isStale }: Omit<Path, 'prefix' | 'pathId'>): void {
    const page = this.#pageOf(entry);
    const at = entry & (PAGE - 1);
    page.attributes[at] = attributes;
    page.sources[at] = from;
    page.learnedAt[at] = learnedAt;
    page.isStale[at] = isStale ? 1 : 0;
  }

  remove(entry: number): void {
    const page = this.#pageOf(entry);
    const at = entry & (PAGE - 1);
    const key = this.#keyOf(entry);
    const pathId = key[this.#width - 1] ?? 0;
    this.#index.remove(entry, hashKey(key, this.#seed));
    if (pathId !== 0) this.#removePathId(this.#prefixOf(entry), pathId);
    page.attributes[at] = undefined;
    page.sources[at] = undefined;
    this.#free.push(entry);
    if (this.size === 0) this.#shrink();
  }

  /** The numbers of the entries in use. A removal meanwhile does no harm. */
  *entries(): IterableIterator<number> {
    for (let entry = 0; entry < this.#end; entry++) {
      if (this.#pageOf(entry).attributes[entry & (PAGE - 1)] !== undefined) yield entry;
    }
  }

  attributesOf(entry: number): PathAttributes {
    const attributes = this.#pageOf(entry).attributes[entry & (PAGE - 1)];
    if (attributes === undefined) throw new RangeError(`entry ${entry} is not in use`);
    return attributes;
  }

  sourceOf(entry: number): PathSource {
    const source = this.#pageOf(entry).sources[entry & (PAGE - 1)];
    if (source === undefined) throw new RangeError(`entry ${entry} is not in use`);
    return source;
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
    const pathId = this.#keyOf(entry)[this.#width - 1] ?? 0;
    return {
      prefix: this.#prefixOf(entry),
      pathId,
      attributes: this.attributesOf(entry),
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
      keys: new Uint32Array(PAGE * this.#width),
      attributes: [],
      sources: [],
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

  #setKey({ bytes, length }: Prefix, pathId: number): KeyWords {
    const key = this.#key;
    const words = this.#width - 2;
    for (let word = 0; word < words; word++) {
      const at = word * 4;
      key[word] =
        ((bytes[at] ?? 0) << 24) |
        ((bytes[at + 1] ?? 0) << 16) |
        ((bytes[at + 2] ?? 0) << 8) |
        (bytes[at + 3] ?? 0);
    }
    key[words] = length;
    key[words + 1] = pathId;
    return key;
  }

  /** The key of an entry; it is overwritten by the next call. */
  #keyOf(entry: number): KeyWords {
    const { keys } = this.#pageOf(entry);
    const from = (entry & (PAGE - 1)) * this.#width;
    for (let word = 0; word < this.#width; word++) this.#stored[word] = keys[from + word] ?? 0;
    return this.#stored;
  }

  #matches(entry: number, key: KeyWords): boolean {
    const { keys } = this.#pageOf(entry);
    const from = (entry & (PAGE - 1)) * this.#width;
    for (let word = 0; word < key.length; word++) if (keys[from + word] !== key[word]) return false;
    return true;
  }

  #prefixOf(entry: number): Prefix {
    const key = this.#keyOf(entry);
    const words = this.#width - 2;
    const bytes = new Uint8Array(words * 4);
    for (let i = 0; i < bytes.length; i++) bytes[i] = (key[i >> 2] ?? 0) >>> (24 - 8 * (i & 3));
    return { family: this.#family, bytes, length: key[words] ?? 0 };
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
