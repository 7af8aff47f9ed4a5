import type { IpAddress } from '../types/ip-address.ts';
import { equalIpAddress } from '../types/ip-address.ts';
import type { AttributeMemory, AttributeOctets } from '../wire/attribute-octets.ts';
import { readsAttributesAlike } from '../wire/attribute-octets.ts';
import type { CodecContext } from '../wire/context.ts';
import { octetsOfText } from '../wire/octet-span.ts';
import type { ExtendedCommunity, LargeCommunity, PathAttributes } from '../wire/path-attributes.ts';
import { readPlainAttributes } from '../wire/update.ts';
import { equalAttributes, hashAttributes } from './attribute-equality.ts';
import { AttributeRecords } from './attribute-records.ts';
import { EntryIndex } from './entry-index.ts';
import { InternedAttributes, ownAddress } from './interned-attributes.ts';

/** Longer fields are not remembered: they are rare, and a table of them would take the memory that it saves. */
const LONGEST_REMEMBERED = 512;

/** A set that was found new last: what it was read as. */
interface FreshSet {
  readonly number: number;
  readonly value: PathAttributes;
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
 * fields than sets, whatever a peer sends. For a set that came in such a field they are all that is kept, until something
 * asks for the object: a table of 100,000 sets is a million objects less for the garbage collector.
 */
export class AttributeTable implements AttributeMemory {
  readonly #seed: number;
  /** How many numbers have been in use. */
  #end = 0;
  readonly #free: number[] = [];
  readonly #records = new AttributeRecords();
  /** By number, as the next two: the objects of sets that were asked for, or that no field means. */
  readonly #objects: (InternedAttributes | undefined)[] = [];
  /** The field that means the set, and how it was read. */
  readonly #octets: (string | undefined)[] = [];
  readonly #contexts: (CodecContext | undefined)[] = [];
  #fresh: FreshSet | undefined;
  readonly #byValue: EntryIndex<PathAttributes>;
  readonly #byOctets: EntryIndex<AttributeOctets>;
  /** That of the set that was new last: most sets of one peer have the same, and share the object then. */
  #lastNextHop: IpAddress | undefined;

  /** @param seed of the hashes: a random 32-bit integer that no peer knows; otherwise one could choose attributes that make it slow */
  constructor(seed: number = 0) {
    this.#seed = seed;
    this.#byValue = new EntryIndex((number, key) => equalAttributes(this.peek(number), key));
    this.#byOctets = new EntryIndex((entry, key) => this.#isReadFrom(entry, key));
  }

  /** How many different sets are held. */
  get size(): number {
    return this.#end - this.#free.length;
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
    this.#records.addReferences(number, 1);
    if (field !== undefined && this.#octets[number] === undefined) this.#remember(number, field);
    // Without octets there is nothing to make it of later.
    if (this.#octets[number] === undefined) this.at(number);
    return number;
  }

  /** Takes one more reference of a set that is held. */
  holdNumber(number: number): void {
    this.#check(number);
    this.#records.addReferences(number, 1);
  }

  /** As `release`. */
  releaseNumber(number: number): void {
    this.#check(number);
    if (this.#records.addReferences(number, -1) === 0) this.#forget(number);
  }

  /**
   * The set with this number.
   * @throws RangeError when there is none
   */
  at(number: number): PathAttributes {
    const known = this.#objects[number];
    if (known !== undefined) return known;
    const value = this.#valueOf(number);
    const own = new InternedAttributes(value, this.#ownNextHop(value.nextHop), number);
    this.#objects[number] = own;
    return own;
  }

  /** As `at`, for those who only look: an object that is not there is made for them alone. */
  peek(number: number): PathAttributes {
    return this.#objects[number] ?? this.#valueOf(number);
  }

  /** Another one for each set, and never 0: whether a number still means the set that it meant before. */
  serialOf(number: number): number {
    return this.#records.serial(number);
  }

  /** No reference is taken. */
  recall(field: AttributeOctets): number {
    if (field.octets.length > LONGEST_REMEMBERED) return -1;
    return this.#byOctets.find(field, field.octets.hash(this.#seed));
  }

  #check(number: number): void {
    if (this.#records.references(number) === 0)
      throw new RangeError(`no path attributes have number ${number}`);
  }

  /** What the object of a number is made of. */
  #valueOf(number: number): PathAttributes {
    if (this.#fresh?.number === number) return this.#fresh.value;
    const octets = this.#octets[number];
    const context = this.#contexts[number];
    if (octets === undefined || context === undefined)
      throw new RangeError(`no path attributes have number ${number}`);
    return normalise(readPlainAttributes(octetsOfText(octets), context));
  }

  /** The number of an object that stands for its set here, or -1. */
  #numberOf(attributes: PathAttributes): number {
    const number = InternedAttributes.numberOf(attributes);
    return number >= 0 && this.#objects[number] === attributes ? number : -1;
  }

  #numberFor(value: PathAttributes): number {
    const next = this.#free.at(-1) ?? this.#end;
    const hash = hashAttributes(value, this.#seed);
    const number = this.#byValue.findOrAdd(value, hash, next);
    if (number !== next) return number;
    if (this.#free.pop() === undefined) this.#end += 1;
    this.#records.begin(number, hash);
    this.#objects[number] = undefined;
    this.#octets[number] = undefined;
    this.#contexts[number] = undefined;
    this.#fresh = { number, value };
    return number;
  }

  #ownNextHop(nextHop: IpAddress | undefined): IpAddress | undefined {
    const last = this.#lastNextHop;
    if (nextHop === undefined || (last !== undefined && equalIpAddress(nextHop, last)))
      return nextHop && last;
    this.#lastNextHop = ownAddress(nextHop);
    return this.#lastNextHop;
  }

  #remember(number: number, field: AttributeOctets): void {
    const { octets, context } = field;
    if (octets.length > LONGEST_REMEMBERED) return;
    const hash = octets.hash(this.#seed);
    if (this.#byOctets.findOrAdd(field, hash, number) !== number) return;
    this.#records.setOctetsHash(number, hash);
    this.#octets[number] = octets.text();
    this.#contexts[number] = context;
  }

  #forget(number: number): void {
    this.#byValue.remove(number, this.#records.valueHash(number));
    if (this.#octets[number] !== undefined) this.#byOctets.remove(number, this.#records.octetsHash(number));
    if (this.#fresh?.number === number) this.#fresh = undefined;
    this.#objects[number] = undefined;
    this.#octets[number] = undefined;
    this.#contexts[number] = undefined;
    this.#free.push(number);
    if (this.size === 0) this.#clear();
  }

  /** What all sets had is given back. */
  #clear(): void {
    this.#end = 0;
    this.#free.length = 0;
    this.#objects.length = 0;
    this.#octets.length = 0;
    this.#contexts.length = 0;
    this.#records.clear();
  }

  #isReadFrom(number: number, { octets, context }: AttributeOctets): boolean {
    const known = this.#octets[number];
    const readBy = this.#contexts[number];
    if (known === undefined || readBy === undefined) return false;
    return octets.equals(known) && readsAttributesAlike(readBy, context);
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
