/** An IPv4 or IPv6 address in network byte order: 4 or 16 octets. Never changed after it is made. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly bytes: Uint8Array;
}

/** Identity of an address for use as a Map key: a number for IPv4, a 16-octet latin1 string for IPv6. */
export type IpAddressKey = number | string;

/** The address of 4 or 16 octets. The octets are taken over, not copied. */
export function ipAddress(bytes: Uint8Array): IpAddress {
  if (bytes.length !== 4 && bytes.length !== 16) {
    throw new RangeError(`IP address of ${bytes.length} octets: expected 4 or 16`);
  }
  return { version: bytes.length === 4 ? 4 : 6, bytes };
}

/**
 * Reads an address as people write it: dotted decimal without leading zeros, or RFC 4291 section 2.2.
 * No zone (`fe80::1%eth0`), no prefix length.
 * @throws RangeError naming the text.
 */
export function parseIpAddress(text: string): IpAddress {
  const bytes = text.includes(':') ? parseIpv6(text) : parseIpv4(text);
  if (bytes === undefined) {
    throw new RangeError(`IP address "${text}": expected an IPv4 or IPv6 address`);
  }
  return ipAddress(bytes);
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split('.');
  if (parts.length !== 4) return undefined;
  const bytes = new Uint8Array(4);
  for (const [index, part] of parts.entries()) {
    // A leading zero means octal to some programs and decimal to others.
    if (!/^(0|[1-9][0-9]{0,2})$/.test(part) || Number(part) > 255) return undefined;
    bytes[index] = Number(part);
  }
  return bytes;
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const compressed = halves.length === 2;
  const head = parseGroups(halves[0] ?? '', !compressed);
  const tail = compressed ? parseGroups(halves[1] ?? '', true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const written = head.length + tail.length;
  // "::" stands for one group at least (RFC 4291 section 2.2; RFC 5952 section 4.2.2 advises against one).
  if (compressed ? written > 14 : written !== 16) return undefined;
  const bytes = new Uint8Array(16);
  bytes.set(head, 0);
  bytes.set(tail, 16 - tail.length);
  return bytes;
}

/** The octets of colon-separated groups; the last one may be an IPv4 address where `last` says so. */
function parseGroups(text: string, last: boolean): number[] | undefined {
  if (text === '') return [];
  const octets: number[] = [];
  const groups = text.split(':');
  for (const [index, group] of groups.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(group)) {
      const value = Number.parseInt(group, 16);
      octets.push(value >> 8, value & 0xff);
      continue;
    }
    const ipv4 = last && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (ipv4 === undefined) return undefined;
    octets.push(...ipv4);
  }
  return octets;
}

/** The text of an address: dotted decimal, or the canonical form of RFC 5952 section 4. */
export function formatIpAddress(address: IpAddress): string {
  const { bytes } = address;
  if (address.version === 4) return bytes.join('.');
  if (isIpv4Mapped(bytes)) return `::ffff:${bytes.subarray(12).join('.')}`;
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  const [start, length] = longestZeroRun(groups);
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(':');
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`;
}

function isIpv4Mapped(bytes: Uint8Array): boolean {
  return bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((octet) => octet === 0);
}

/** The first of the longest runs of zero groups: RFC 5952 section 4.2.3. */
function longestZeroRun(groups: readonly number[]): readonly [start: number, length: number] {
  let best: [number, number] = [0, 0];
  let start = 0;
  for (let i = 0; i <= groups.length; i++) {
    if (groups[i] === 0) continue;
    if (i - start > best[1]) best = [start, i - start];
    start = i + 1;
  }
  return best;
}

/** Identity of an address: equal addresses have equal keys, and an IPv4 key never equals an IPv6 one. */
export function ipAddressKey(address: IpAddress): IpAddressKey {
  return address.version === 4 ? ipv4Number(address.bytes) : String.fromCharCode(...address.bytes);
}

/** The 4 octets as an unsigned number. */
export function ipv4Number(bytes: Uint8Array): number {
  return (bytes[0] ?? 0) * 0x1000000 + (((bytes[1] ?? 0) << 16) | ((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0));
}

export function equalIpAddress(a: IpAddress, b: IpAddress): boolean {
  if (a === b) return true;
  if (a.version !== b.version) return false;
  for (let i = 0; i < a.bytes.length; i++) {
    if (a.bytes[i] !== b.bytes[i]) return false;
  }
  return true;
}

/** Orders addresses by their octets as unsigned numbers, IPv4 before IPv6. Negative when `a` comes first. */
export function compareIpAddress(a: IpAddress, b: IpAddress): number {
  if (a.version !== b.version) return a.version - b.version;
  for (let i = 0; i < a.bytes.length; i++) {
    const difference = (a.bytes[i] ?? 0) - (b.bytes[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
