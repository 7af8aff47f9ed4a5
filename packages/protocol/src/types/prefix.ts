import type { Family } from './family.ts';
import { ipv4Unicast, ipv6Unicast } from './family.ts';
import type { IpAddress } from './ip-address.ts';
import { formatIpAddress, ipAddress, ipv4Number, parseIpAddress } from './ip-address.ts';

/** An IP prefix in canonical form: all bits past `length` are zero (RFC 4271 section 4.3). Never changed. */
export interface Prefix {
  readonly family: Family;
  /** 4 or 16 octets, network byte order. */
  readonly bytes: Uint8Array;
  /** In bits, 0 to `family.maxPrefixLength`. */
  readonly length: number;
}

/** Identity of a prefix for use as a Map key: a number for IPv4, a 17-octet latin1 string for IPv6. */
export type PrefixKey = number | string;

/**
 * A prefix in canonical form. The octets are copied and their host bits cleared.
 * @throws RangeError when the octets or the length do not fit the family.
 */
export function prefix(family: Family, bytes: Uint8Array, length: number): Prefix {
  if (bytes.length * 8 !== family.maxPrefixLength) {
    throw new RangeError(
      `${family.name} prefix of ${bytes.length} octets: expected ${family.maxPrefixLength / 8}`,
    );
  }
  if (!Number.isInteger(length) || length < 0 || length > family.maxPrefixLength) {
    throw new RangeError(`${family.name} prefix length ${length}: expected 0 to ${family.maxPrefixLength}`);
  }
  const canonical = Uint8Array.from(bytes);
  clearHostBits(canonical, length);
  return { family, bytes: canonical, length };
}

/** Clears in place all bits past `length`. */
function clearHostBits(bytes: Uint8Array, length: number): void {
  const whole = length >> 3;
  const bits = length & 7;
  if (bits !== 0) bytes[whole] = (bytes[whole] ?? 0) & (0xff00 >> bits);
  bytes.fill(0, bits === 0 ? whole : whole + 1);
}

/**
 * Reads `10.0.0.0/24` or `2001:db8::/32` as a unicast prefix; an address without a length is a host. Host bits are cleared.
 * @throws RangeError naming the text.
 */
export function parsePrefix(text: string): Prefix {
  const slash = text.indexOf('/');
  const address = parseIpAddress(slash < 0 ? text : text.slice(0, slash));
  const family = address.version === 4 ? ipv4Unicast : ipv6Unicast;
  if (slash < 0) return prefix(family, address.bytes, family.maxPrefixLength);
  const length = text.slice(slash + 1);
  if (!/^(0|[1-9][0-9]{0,2})$/.test(length) || Number(length) > family.maxPrefixLength) {
    throw new RangeError(`prefix "${text}": expected a length from 0 to ${family.maxPrefixLength}`);
  }
  return prefix(family, address.bytes, Number(length));
}

/** The text of a prefix: `10.0.0.0/24`. */
export function formatPrefix(value: Prefix): string {
  return `${formatIpAddress(ipAddress(value.bytes))}/${value.length}`;
}

/** Identity of a prefix: equal prefixes have equal keys. Keys of IPv4 and IPv6 never meet: their types differ. */
export function prefixKey(value: Prefix): PrefixKey {
  if (value.bytes.length === 4) return ipv4Number(value.bytes) * 64 + value.length;
  return String.fromCharCode(...value.bytes, value.length);
}

export function equalPrefix(a: Prefix, b: Prefix): boolean {
  return a === b || (a.family === b.family && prefixKey(a) === prefixKey(b));
}

/** Orders prefixes: IPv4 before IPv6, then by address, then the shorter first. Negative when `a` comes first. */
export function comparePrefix(a: Prefix, b: Prefix): number {
  if (a.family !== b.family) return a.family.afi - b.family.afi || a.family.safi - b.family.safi;
  for (let i = 0; i < a.bytes.length; i++) {
    const difference = (a.bytes[i] ?? 0) - (b.bytes[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** True when the address, or the whole of another prefix, lies inside. Families that differ never contain each other. */
export function prefixContains(value: Prefix, inner: IpAddress | Prefix): boolean {
  if (inner.bytes.length !== value.bytes.length) return false;
  if ('length' in inner && inner.length < value.length) return false;
  const whole = value.length >> 3;
  for (let i = 0; i < whole; i++) {
    if (value.bytes[i] !== inner.bytes[i]) return false;
  }
  const mask = 0xff00 >> (value.length & 7);
  return (((value.bytes[whole] ?? 0) ^ (inner.bytes[whole] ?? 0)) & mask & 0xff) === 0;
}
