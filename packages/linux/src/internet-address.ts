/** IPv4 and IPv6 addresses and prefixes between text and octets in network order. */
import { isIPv4, isIPv6 } from 'node:net';

/** 4 or 6. */
export type IpVersion = 4 | 6;

/** AF_INET and AF_INET6 (include/linux/socket.h). */
export const AddressFamily = { Unspecified: 0, Inet: 2, Inet6: 10 } as const;

/** The version an address is written in. @throws RangeError when it is neither. */
export function ipVersion(address: string): IpVersion {
  const text = withoutZone(address);
  if (isIPv4(text)) return 4;
  if (isIPv6(text)) return 6;
  throw new RangeError(`not an IPv4 or IPv6 address: ${JSON.stringify(address)}`);
}

/** AF_INET or AF_INET6. */
export function familyOf(version: IpVersion): number {
  return version === 4 ? AddressFamily.Inet : AddressFamily.Inet6;
}

/** 4 or 6 for AF_INET or AF_INET6, else undefined. */
export function versionOfFamily(family: number): IpVersion | undefined {
  if (family === AddressFamily.Inet) return 4;
  if (family === AddressFamily.Inet6) return 6;
  return undefined;
}

/** `fe80::1` of `fe80::1%eth0` (RFC 4007 section 11). */
export function withoutZone(address: string): string {
  const percent = address.indexOf('%');
  return percent === -1 ? address : address.slice(0, percent);
}

/** `eth0` of `fe80::1%eth0`. */
export function zoneOf(address: string): string | undefined {
  const percent = address.indexOf('%');
  return percent === -1 ? undefined : address.slice(percent + 1);
}

/** The 4 or 16 octets of an address. A zone is left out. @throws RangeError */
export function addressBytes(address: string): Uint8Array {
  return ipVersion(address) === 4 ? ipv4Bytes(address) : ipv6Bytes(withoutZone(address));
}

function ipv4Bytes(address: string): Uint8Array {
  return Uint8Array.from(address.split('.'), Number);
}

function ipv6Bytes(address: string): Uint8Array {
  const bytes = new Uint8Array(16);
  const halves = address.split('::');
  const head = groupBytes(halves[0] ?? '');
  const tail = groupBytes(halves[1] ?? '');
  bytes.set(head, 0);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** The octets of groups such as `2001:db8` or `ffff:192.0.2.1`. */
function groupBytes(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return [...ipv4Bytes(group)];
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The text of 4 or 16 octets; IPv6 as RFC 5952 wants it. @throws RangeError for another length. */
export function addressText(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) throw new RangeError(`an address has 4 or 16 octets, not ${bytes.length}`);
  const mapped =
    bytes.subarray(0, 10).every((octet) => octet === 0) && bytes[10] === 255 && bytes[11] === 255;
  if (mapped) return `::ffff:${bytes.subarray(12).join('.')}`;
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const groups = Array.from({ length: 8 }, (_, index) => view.getUint16(index * 2));
  return compress(groups);
}

/** RFC 5952 section 4.2: the longest run of at least two zero groups, the first of equals, becomes `::`. */
function compress(groups: readonly number[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]): string => part.map((group) => group.toString(16)).join(':');
  if (best.start === -1) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

/** An address prefix as the kernel takes it. */
export interface AddressPrefix {
  readonly version: IpVersion;
  readonly bytes: Uint8Array;
  readonly length: number;
}

/**
 * Reads `192.0.2.0/24`, `2001:db8::/32`, or an address alone, which is a host prefix.
 * @throws RangeError naming the text and what is allowed
 */
export function parsePrefix(text: string): AddressPrefix {
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  const version = ipVersion(address);
  const longest = version === 4 ? 32 : 128;
  const digits = slash === -1 ? String(longest) : text.slice(slash + 1);
  const length = /^\d{1,3}$/.test(digits) ? Number(digits) : Number.NaN;
  if (!(length >= 0 && length <= longest)) {
    throw new RangeError(`not a prefix: ${JSON.stringify(text)}: the length must be 0 to ${longest}`);
  }
  return { version, bytes: addressBytes(address), length };
}

/** `192.0.2.0/24` of an address and a length; no address means the unspecified one (a default route). */
export function prefixText(version: IpVersion, address: string | undefined, length: number): string {
  return `${address ?? (version === 4 ? '0.0.0.0' : '::')}/${length}`;
}
