import { hashWord } from '../types/hash.ts';
import type { IpAddress } from '../types/ip-address.ts';
import { equalIpAddress } from '../types/ip-address.ts';
import type {
  AsPathSegment,
  ExtendedCommunity,
  LargeCommunity,
  PathAttributes,
  RawAttribute,
} from '../wire/path-attributes.ts';

/** Stands for an absent number; what a present one is cannot tell it from all of them, and need not. */
const ABSENT = 0x9e3779b9;

/** A 32-bit hash of a normalised set. Equal sets have equal hashes. */
export function hashAttributes(a: PathAttributes, seed: number): number {
  let hash = hashWord(seed | 0, a.origin ?? ABSENT);
  for (const { type, asns } of a.asPath ?? []) hash = hashNumbers(hashWord(hash, type), asns);
  hash = hashAddress(hash, a.nextHop);
  hash = hashAddress(hash, a.linkLocalNextHop);
  hash = hashWord(hash, a.multiExitDisc ?? ABSENT);
  hash = hashWord(hash, a.localPref ?? ABSENT);
  hash = hashWord(hash, a.atomicAggregate === undefined ? ABSENT : 1);
  hash = hashWord(hash, a.aggregator?.asn ?? ABSENT);
  hash = hashAddress(hash, a.aggregator?.address);
  hash = hashNumbers(hash, a.communities);
  hash = hashWord(hash, a.originatorId ?? ABSENT);
  hash = hashNumbers(hash, a.clusterList);
  for (const { bytes } of a.extendedCommunities ?? []) hash = hashOctets(hash, bytes);
  for (const large of a.largeCommunities ?? []) {
    hash = hashWord(hash, large.globalAdministrator);
    hash = hashWord(hash, large.localData1);
    hash = hashWord(hash, large.localData2);
  }
  for (const { code, value } of a.unknown) hash = hashOctets(hashWord(hash, code), value);
  return hashNumbers(hash, a.partial);
}

function hashNumbers(start: number, values: readonly number[] | undefined): number {
  if (values === undefined) return hashWord(start, ABSENT);
  let hash = hashWord(start, values.length);
  for (let i = 0; i < values.length; i++) hash = hashWord(hash, values[i] ?? 0);
  return hash;
}

function hashAddress(hash: number, address: IpAddress | undefined): number {
  return address === undefined ? hashWord(hash, ABSENT) : hashOctets(hash, address.bytes);
}

function hashOctets(start: number, bytes: Uint8Array): number {
  let hash = hashWord(start, bytes.length);
  for (let i = 0; i < bytes.length; i += 4) {
    const high = ((bytes[i] ?? 0) << 24) | ((bytes[i + 1] ?? 0) << 16);
    hash = hashWord(hash, high | ((bytes[i + 2] ?? 0) << 8) | (bytes[i + 3] ?? 0));
  }
  return hash;
}

/** True when two normalised sets are equal, field by field. */
export function equalAttributes(a: PathAttributes, b: PathAttributes): boolean {
  return (
    a.origin === b.origin &&
    a.multiExitDisc === b.multiExitDisc &&
    a.localPref === b.localPref &&
    a.atomicAggregate === b.atomicAggregate &&
    a.originatorId === b.originatorId &&
    a.aggregator?.asn === b.aggregator?.asn &&
    equalLists(a.asPath, b.asPath, equalSegment) &&
    equalLists(a.communities, b.communities, Object.is) &&
    equalLists(a.clusterList, b.clusterList, Object.is) &&
    equalLists(a.partial, b.partial, Object.is) &&
    equalAddress(a.nextHop, b.nextHop) &&
    equalAddress(a.linkLocalNextHop, b.linkLocalNextHop) &&
    equalAddress(a.aggregator?.address, b.aggregator?.address) &&
    equalLists(a.extendedCommunities, b.extendedCommunities, equalExtended) &&
    equalLists(a.largeCommunities, b.largeCommunities, equalLarge) &&
    equalLists(a.unknown, b.unknown, equalUnknown)
  );
}

/** An absent list and an empty one are two things. */
function equalLists<T>(
  a: readonly T[] | undefined,
  b: readonly T[] | undefined,
  equal: (a: T, b: T) => boolean,
): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((value, at) => {
    const other = b[at];
    return other !== undefined && equal(value, other);
  });
}

function equalSegment(a: AsPathSegment, b: AsPathSegment): boolean {
  return a.type === b.type && equalLists(a.asns, b.asns, Object.is);
}

function equalAddress(a: IpAddress | undefined, b: IpAddress | undefined): boolean {
  return a === undefined || b === undefined ? a === b : equalIpAddress(a, b);
}

function equalOctets(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, at) => octet === b[at]);
}

function equalExtended(a: ExtendedCommunity, b: ExtendedCommunity): boolean {
  return equalOctets(a.bytes, b.bytes);
}

function equalLarge(a: LargeCommunity, b: LargeCommunity): boolean {
  return (
    a.globalAdministrator === b.globalAdministrator &&
    a.localData1 === b.localData1 &&
    a.localData2 === b.localData2
  );
}

function equalUnknown(a: RawAttribute, b: RawAttribute): boolean {
  return a.code === b.code && a.flags === b.flags && equalOctets(a.value, b.value);
}
