import {
  formatScoped,
  hostPrefix,
  type IpAddress,
  ipAddress,
  type Prefix,
  parseIpAddress,
  parsePrefix,
  prefixContains,
  withoutZone,
  zoneOf,
} from '../index.ts';
import type { ResolvedSettings } from './peer-settings.ts';

/** A range whose addresses may connect to us. */
export interface NeighborRange {
  readonly name: string;
  readonly prefix: Prefix;
  readonly maxSessions: number;
  readonly settings: ResolvedSettings;
}

/**
 * The one spelling of an address that peers are found by: an IPv4 address mapped into IPv6, as a dual-stack listener
 * reports it, is the IPv4 address, and a zone counts for a link-local address only (RFC 4007 section 6).
 * @throws RangeError for what is no address
 */
export function canonicalAddress(text: string): string {
  return formatScoped(unmapped(parseIpAddress(withoutZone(text))), zoneOf(text));
}

/** ::ffff:0:0/96 (RFC 4291 section 2.5.5.2). */
function unmapped(address: IpAddress): IpAddress {
  const { bytes, version } = address;
  if (version === 4) return address;
  const isMapped =
    bytes.subarray(0, 10).every((octet) => octet === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? ipAddress(bytes.slice(12)) : address;
}

/** The prefix of one host, as `ListeningSocket.setPassword` takes it: the kernel's keys are the same on all links. */
export function passwordPrefix(address: string): string {
  return hostPrefix(withoutZone(canonicalAddress(address)));
}

/**
 * @throws RangeError for what is no prefix
 */
export function neighborRange(
  { name, range, maxSessions }: { name: string; range: string; maxSessions: number },
  settings: ResolvedSettings,
): NeighborRange {
  if (!Number.isInteger(maxSessions) || maxSessions < 1) {
    throw new RangeError(`range ${name}: maxSessions ${maxSessions}: expected a whole number of at least 1`);
  }
  return { name, prefix: parsePrefix(range), maxSessions, settings };
}

/** The most specific range that an address is in. */
export function rangeOf(ranges: Iterable<NeighborRange>, address: string): NeighborRange | undefined {
  const parsed = parseIpAddress(withoutZone(address));
  let best: NeighborRange | undefined;
  for (const range of ranges) {
    if (!prefixContains(range.prefix, parsed)) continue;
    if (best === undefined || range.prefix.length > best.prefix.length) best = range;
  }
  return best;
}
