import type { IpAddress } from '../types/ip-address.ts';
import { equalIpAddress } from '../types/ip-address.ts';
import type {
  ExtendedCommunity,
  LargeCommunity,
  PathAttributes,
  RawAttribute,
} from '../wire/path-attributes.ts';
import { attributeKey } from './attribute-key.ts';

const noUnknown: readonly RawAttribute[] = Object.freeze([]);

interface Entry {
  readonly attributes: PathAttributes;
  readonly key: string;
  references: number;
}

/**
 * Interned sets of path attributes, with reference counts: of any two equal sets there is one object, so that equality
 * is `===`, a route table of many prefixes keeps one copy, and an Adj-RIB-Out packs by identity.
 *
 * Sets are normalised first: communities of all three kinds are sets (RFC 1997, RFC 4360 section 2, RFC 8092
 * section 3), so they are sorted and repeated ones dropped. Octets of a set that is new are copied, so that a route does not
 * keep a received segment alive.
 */
export class AttributeTable {
  readonly #byKey = new Map<string, Entry>();
  readonly #byObject = new Map<PathAttributes, Entry>();
  /** That of the set that was new last: most sets of one peer have the same, and share the object then. */
  #lastNextHop: IpAddress | undefined;

  /** How many different sets are held. */
  get size(): number {
    return this.#byKey.size;
  }

  /** The one object that stands for this set. Each call takes a reference, which `release` gives back. */
  intern(attributes: PathAttributes): PathAttributes {
    const entry = this.#byObject.get(attributes) ?? this.#entryOf(normalise(attributes));
    entry.references += 1;
    return entry.attributes;
  }

  /**
   * Gives back one reference of an interned set; with the last one the table forgets it. The object stays readable.
   * @throws RangeError for an object that this table does not hold: one release too many, or one never interned.
   */
  release(attributes: PathAttributes): void {
    const entry = this.#byObject.get(attributes);
    if (entry === undefined) throw new RangeError('release of path attributes that the table does not hold');
    entry.references -= 1;
    if (entry.references > 0) return;
    this.#byKey.delete(entry.key);
    this.#byObject.delete(attributes);
  }

  #entryOf(attributes: PathAttributes): Entry {
    const key = attributeKey(attributes);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const entry: Entry = { attributes: this.#own(attributes), key, references: 0 };
    this.#byKey.set(key, entry);
    this.#byObject.set(entry.attributes, entry);
    return entry;
  }

  /** The set with octets of its own. */
  #own(a: PathAttributes): PathAttributes {
    const last = this.#lastNextHop;
    const isLast = a.nextHop !== undefined && last !== undefined && equalIpAddress(a.nextHop, last);
    const nextHop = isLast ? last : ownAddress(a.nextHop);
    this.#lastNextHop = nextHop;
    return {
      ...a,
      nextHop,
      linkLocalNextHop: ownAddress(a.linkLocalNextHop),
      aggregator: a.aggregator && { asn: a.aggregator.asn, address: own(a.aggregator.address) },
      extendedCommunities: a.extendedCommunities?.map(({ bytes }) => ({ bytes: new Uint8Array(bytes) })),
      unknown:
        a.unknown.length === 0
          ? noUnknown
          : a.unknown.map(({ code, flags, value }) => ({ code, flags, value: new Uint8Array(value) })),
    };
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
    partial: sortedSet(a.partial, (x, y) => x - y),
  };
}

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

function ownAddress(address: IpAddress | undefined): IpAddress | undefined {
  return address && own(address);
}

/** The constructor copies; `slice` of a Node Buffer would share the memory. */
function own(address: IpAddress): IpAddress {
  return { version: address.version, bytes: new Uint8Array(address.bytes) };
}
