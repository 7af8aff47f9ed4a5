import type {
  AsPathSegment,
  ExtendedCommunity,
  LargeCommunity,
  PathAttributes,
  RawAttribute,
} from '../wire/path-attributes.ts';

/** Code units that are made a string at a time: all of them as arguments of one call could overflow the stack. */
const CHUNK = 4096;
/** Stands for an absent field; a present one begins with 1. */
const ABSENT = 0;

/**
 * A string that two normalised attribute sets share if and only if they are equal, field by field.
 *
 * Every field is written in a fixed order as 16-bit code units and delimits itself: an absent one is one unit, a number two,
 * lists and octets have their length first. So no two different sets can read the same. The string is flat and short, which
 * is what makes it cheap as the key of a Map.
 */
export function attributeKey(a: PathAttributes): string {
  const units: number[] = [];
  number(units, a.origin);
  asPath(units, a.asPath);
  octets(units, a.nextHop?.bytes);
  octets(units, a.linkLocalNextHop?.bytes);
  number(units, a.multiExitDisc);
  number(units, a.localPref);
  units.push(a.atomicAggregate === undefined ? ABSENT : 1);
  number(units, a.aggregator?.asn);
  octets(units, a.aggregator?.address.bytes);
  numbers(units, a.communities);
  number(units, a.originatorId);
  numbers(units, a.clusterList);
  extended(units, a.extendedCommunities);
  large(units, a.largeCommunities);
  unknown(units, a.unknown);
  numbers(units, a.partial);
  return text(units);
}

function text(units: readonly number[]): string {
  if (units.length <= CHUNK) return String.fromCharCode(...units);
  let key = '';
  for (let at = 0; at < units.length; at += CHUNK) {
    key += String.fromCharCode(...units.slice(at, at + CHUNK));
  }
  return key;
}

function u32(units: number[], value: number): void {
  units.push(value >>> 16, value & 0xffff);
}

function number(units: number[], value: number | undefined): void {
  if (value === undefined) {
    units.push(ABSENT);
    return;
  }
  units.push(1);
  u32(units, value);
}

/** Lists begin with their length plus one, in two units: a message can hold no more than 65535 octets, an application more. */
function numbers(units: number[], values: readonly number[] | undefined): void {
  u32(units, values === undefined ? ABSENT : values.length + 1);
  for (const value of values ?? []) u32(units, value);
}

function asPath(units: number[], segments: readonly AsPathSegment[] | undefined): void {
  u32(units, segments === undefined ? ABSENT : segments.length + 1);
  for (const segment of segments ?? []) {
    units.push(segment.type);
    numbers(units, segment.asns);
  }
}

/** One unit for an octet. */
function octets(units: number[], bytes: Uint8Array | undefined): void {
  u32(units, bytes === undefined ? ABSENT : bytes.length + 1);
  for (const octet of bytes ?? []) units.push(octet);
}

function extended(units: number[], communities: readonly ExtendedCommunity[] | undefined): void {
  u32(units, communities === undefined ? ABSENT : communities.length + 1);
  for (const { bytes } of communities ?? []) octets(units, bytes);
}

function large(units: number[], communities: readonly LargeCommunity[] | undefined): void {
  u32(units, communities === undefined ? ABSENT : communities.length + 1);
  for (const { globalAdministrator, localData1, localData2 } of communities ?? []) {
    u32(units, globalAdministrator);
    u32(units, localData1);
    u32(units, localData2);
  }
}

function unknown(units: number[], attributes: readonly RawAttribute[]): void {
  u32(units, attributes.length);
  for (const { code, flags, value } of attributes) {
    units.push(code, flags);
    octets(units, value);
  }
}
