import type { IpAddress } from '../types/ip-address.ts';
import { equalIpAddress } from '../types/ip-address.ts';
import type { AttributeMemory, AttributeOctets } from '../wire/attribute-octets.ts';
import { readsAttributesAlike } from '../wire/attribute-octets.ts';
import type { CodecContext } from '../wire/message.ts';
import type { ExtendedCommunity, LargeCommunity, PathAttributes } from '../wire/path-attributes.ts';
import { equalAttributes, hashAttributes } from './attribute-equality.ts';
import { EntryIndex } from './entry-index.ts';
import { InternedAttributes, ownAddress } from './interned-attributes.ts';

/** Longer fields are not remembered: they are rare, and a table of them would take the memory that it saves. */
const LONGEST_REMEMBERED = 512;

interface Entry {
  readonly attributes: InternedAttributes;
  readonly hash: number;
  references: number;
  /** A field that the set was read from, and how it was read. */
  octets: string | undefined;
  octetsHash: number;
  context: CodecContext | undefined;
}

/**
 * Interned sets of path attributes, with reference counts: of any two equal sets there is one object, so that equality
 * is `===`, a route table of many prefixes keeps one copy, and an Adj-RIB-Out packs by identity. A set has a number as
 * long as it is held, for those who keep columns.
 *
 * Sets are normalised first: communities of all three kinds are sets (RFC 1997, RFC 4360 section 2, RFC 8092
 * section 3), so they are sorted and repeated ones dropped.
 *
 * With a set it remembers the octets of one Path Attributes field that meant it, as long as the set is held: no more
 * fields than sets, whatever a peer sends.
 */
export class AttributeTable implements AttributeMemory {
  readonly #seed: number;
  /** By number. */
  readonly #entries: (Entry | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #byValue: EntryIndex<PathAttributes>;
  readonly #byOctets: EntryIndex<AttributeOctets>;
  /** That of the set that was new last: most sets of one peer have the same, and share the object then. */
  #lastNextHop: IpAddress | undefined;

  /** @param seed of the hashes: a random 32-bit integer that no peer knows; otherwise one could choose attributes that make it slow */
  constructor(seed: number = 0) {
    this.#seed = seed;
    this.#byValue = new EntryIndex((entry, key) => {
      const attributes = this.#entries[entry]?.attributes;
      return attributes !== undefined && equalAttributes(attributes, key);
    });
    this.#byOctets = new EntryIndex((entry, key) => this.#isReadFrom(entry, key));
  }

  /** How many different sets are held. */
  get size(): number {
    return this.#entries.length - this.#free.length;
  }

  /** The one object that stands for this set. Each call takes a reference, which `release` gives back. */
  intern(attributes: PathAttributes): PathAttributes {
    return this.at(this.hold(attributes));
  }

  /**
   * Gives back one reference of an interned set; with the last one the table forgets it. The object stays readable.
   * @throws RangeError for an object that this table does not hold: one release too many, or one never interned.
   */
  release(attributes: PathAttributes): void {
    const number = this.#numberOf(attributes);
    if (number < 0) throw new RangeError('release of path attributes that the table does not hold');
    this.releaseNumber(number);
  }

  /**
   * As `intern`, for those who keep numbers.
   * @param field what the set was read from, to be recalled by
   */
  hold(attributes: PathAttributes, field?: AttributeOctets): number {
    const known = this.#numberOf(attributes);
    const number = known < 0 ? this.#numberFor(normalise(attributes)) : known;
    const entry = this.#entry(number);
    entry.references += 1;
    if (field !== undefined && entry.octets === undefined) this.#remember(number, entry, field);
    return number;
  }

  /** Takes one more reference of a set that is held. */
  holdNumber(number: number): void {
    this.#entry(number).references += 1;
  }

  /** As `release`. */
  releaseNumber(number: number): void {
    const entry = this.#entry(number);
    entry.references -= 1;
    if (entry.references === 0) this.#forget(number, entry);
  }

  /**
   * The set with this number.
   * @throws RangeError when there is none
   */
  at(number: number): PathAttributes {
    return this.#entry(number).attributes;
  }

  /** The set that such a field meant before, when it is still held; no reference is taken. */
  recall(field: AttributeOctets): PathAttributes | undefined {
    if (field.octets.length > LONGEST_REMEMBERED) return undefined;
    const number = this.#byOctets.find(field, field.octets.hash(this.#seed));
    return number < 0 ? undefined : this.at(number);
  }

  #entry(number: number): Entry {
    const entry = this.#entries[number];
    if (entry === undefined) throw new RangeError(`no path attributes have number ${number}`);
    return entry;
  }

  /** The number of an object that stands for its set here, or -1. */
  #numberOf(attributes: PathAttributes): number {
    const number = InternedAttributes.numberOf(attributes);
    return number >= 0 && this.#entries[number]?.attributes === attributes ? number : -1;
  }

  #numberFor(attributes: PathAttributes): number {
    const next = this.#free.at(-1) ?? this.#entries.length;
    const hash = hashAttributes(attributes, this.#seed);
    const number = this.#byValue.findOrAdd(attributes, hash, next);
    if (number !== next) return number;
    this.#free.pop();
    const own = new InternedAttributes(attributes, this.#ownNextHop(attributes.nextHop), number);
    const fresh = { references: 0, octets: undefined, octetsHash: 0, context: undefined };
    this.#entries[number] = { attributes: own, hash, ...fresh };
    return number;
  }

  #ownNextHop(nextHop: IpAddress | undefined): IpAddress | undefined {
    const last = this.#lastNextHop;
    if (nextHop === undefined || (last !== undefined && equalIpAddress(nextHop, last)))
      return nextHop && last;
    this.#lastNextHop = ownAddress(nextHop);
    return this.#lastNextHop;
  }

  #remember(number: number, entry: Entry, field: AttributeOctets): void {
    const { octets, context } = field;
    if (octets.length > LONGEST_REMEMBERED) return;
    const hash = octets.hash(this.#seed);
    if (this.#byOctets.findOrAdd(field, hash, number) !== number) return;
    entry.octets = octets.text();
    entry.octetsHash = hash;
    entry.context = context;
  }

  #forget(number: number, { hash, octets, octetsHash }: Entry): void {
    this.#byValue.remove(number, hash);
    if (octets !== undefined) this.#byOctets.remove(number, octetsHash);
    this.#entries[number] = undefined;
    this.#free.push(number);
    if (this.size > 0) return;
    this.#entries.length = 0;
    this.#free.length = 0;
  }

  #isReadFrom(number: number, { octets, context }: AttributeOctets): boolean {
    const entry = this.#entries[number];
    if (entry?.octets === undefined || entry.context === undefined) return false;
    return octets.equals(entry.octets) && readsAttributesAlike(entry.context, context);
  }
}
/** The set in canonical form, as a new object with every field present that shares octets with the given one. */
function normalise(a: PathAttributes): PathAttributes {
  return {
    origin: a.origin,
    asPath: a.asPath,
    nextHop: a.nextHop,
    linkLocalNextHop: a.linkLocalNextHop,
    multiExitDisc: a.multiExitDisc,
    localPref: a.localPref,
    atomicAggregate: a.atomicAggregate,
    aggregator: a.aggregator,
    communities: sortedSet(a.communities, (x, y) => x - y),
    originatorId: a.originatorId,
    // A CLUSTER_LIST of no entries is malformed on the wire (RFC 7606 section 7.10): it is an absent one.
    clusterList: a.clusterList?.length === 0 ? undefined : a.clusterList,
    extendedCommunities: sortedSet(a.extendedCommunities, compareExtended),
    largeCommunities: sortedSet(a.largeCommunities, compareLarge),
    unknown: a.unknown.length < 2 ? a.unknown : a.unknown.toSorted((x, y) => x.code - y.code),
    partial: sortedSet(
      a.partial?.filter((code) => isThere(a, code)),
      (x, y) => x - y,
    ),
  };
}

/** Whether the set has what the Partial bit is said of: some of it may have stayed behind at the border of an AS (RFC 4360 section 6). */
function isThere(a: PathAttributes, code: number): boolean {
  const field = fields[code];
  const value = field && a[field];
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** The optional transitive attributes that have a field, by their codes. */
const fields: Readonly<
  Record<number, 'aggregator' | 'communities' | 'extendedCommunities' | 'largeCommunities'>
> = {
  7: 'aggregator',
  8: 'communities',
  16: 'extendedCommunities',
  32: 'largeCommunities',
};

/** The values in order and each once; `undefined` for none, since an empty communities attribute is malformed (RFC 7606 section 7.8). */
function sortedSet<T>(
  values: readonly T[] | undefined,
  compare: (x: T, y: T) => number,
): readonly T[] | undefined {
  if (values === undefined || values.length === 0) return undefined;
  if (values.length === 1) return values;
  const sorted = values.toSorted(compare);
  const kept: T[] = [];
  for (const value of sorted) {
    const last = kept.at(-1);
    if (last === undefined || compare(last, value) !== 0) kept.push(value);
  }
  return kept;
}

function compareLarge(x: LargeCommunity, y: LargeCommunity): number {
  return (
    x.globalAdministrator - y.globalAdministrator ||
    x.localData1 - y.localData1 ||
    x.localData2 - y.localData2
  );
}

function compareExtended(x: ExtendedCommunity, y: ExtendedCommunity): number {
  for (const [i, octet] of x.bytes.entries()) {
    const difference = octet - (y.bytes[i] ?? -1);
    if (difference !== 0) return difference;
  }
  return x.bytes.length - y.bytes.length;
}
