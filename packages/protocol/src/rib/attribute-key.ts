import type { IpAddress } from '../types/ip-address.ts';
import type {
  AsPathSegment,
  ExtendedCommunity,
  LargeCommunity,
  PathAttributes,
  RawAttribute,
} from '../wire/path-attributes.ts';

/**
 * A string that two normalised attribute sets share if and only if they are equal, field by field.
 *
 * Every field is written in a fixed order and delimits itself: numbers in decimal up to a separator, lists with their
 * length first, octets as one character each behind a length. So no two different sets can read the same.
 */
export function attributeKey(a: PathAttributes): string {
  const aggregator = a.aggregator;
  return (
    `${optional(a.origin)}${asPathKey(a.asPath)}${addressKey(a.nextHop)}${addressKey(a.linkLocalNextHop)}` +
    `${optional(a.multiExitDisc)}${optional(a.localPref)}${a.atomicAggregate ? 'A' : '-'}` +
    `${aggregator === undefined ? '-' : `${aggregator.asn};${addressKey(aggregator.address)}`}` +
    `${numbersKey(a.communities)}${optional(a.originatorId)}${numbersKey(a.clusterList)}` +
    `${extendedKey(a.extendedCommunities)}${largeKey(a.largeCommunities)}${unknownKey(a.unknown)}`
  );
}

function optional(value: number | undefined): string {
  return value === undefined ? '-' : `${value};`;
}

function numbersKey(values: readonly number[] | undefined): string {
  return values === undefined ? '-' : `${values.length}:${values.join(',')};`;
}

function asPathKey(segments: readonly AsPathSegment[] | undefined): string {
  if (segments === undefined) return '-';
  let key = `${segments.length}:`;
  for (const segment of segments) key += `${segment.type},${numbersKey(segment.asns)}`;
  return key;
}

function addressKey(address: IpAddress | undefined): string {
  return address === undefined ? '-' : octets(address.bytes);
}

function extendedKey(communities: readonly ExtendedCommunity[] | undefined): string {
  if (communities === undefined) return '-';
  let key = `${communities.length}:`;
  for (const community of communities) key += octets(community.bytes);
  return key;
}

function largeKey(communities: readonly LargeCommunity[] | undefined): string {
  if (communities === undefined) return '-';
  let key = `${communities.length}:`;
  for (const c of communities) key += `${c.globalAdministrator},${c.localData1},${c.localData2};`;
  return key;
}

function unknownKey(attributes: readonly RawAttribute[]): string {
  let key = `${attributes.length}:`;
  for (const attribute of attributes)
    key += `${attribute.code},${attribute.flags},${octets(attribute.value)}`;
  return key;
}

/** The octets as latin1 characters behind their number. One call per octet: a spread of a long value would overflow the stack. */
function octets(bytes: Uint8Array): string {
  let text = `${bytes.length}#`;
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
