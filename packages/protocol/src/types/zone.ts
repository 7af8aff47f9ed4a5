import { formatIpAddress, type IpAddress, parseIpAddress } from './ip-address.ts';

/** fe80::/10 (RFC 4291 section 2.5.6). Such an address means nothing without the link that it is on. */
export function isLinkLocal({ version, bytes }: IpAddress): boolean {
  return version === 6 && bytes[0] === 0xfe && ((bytes[1] ?? 0) & 0xc0) === 0x80;
}

/** `eth0` of `fe80::1%eth0` (RFC 4007 section 11); `undefined` without one. */
export function zoneOf(text: string): string | undefined {
  const percent = text.indexOf('%');
  return percent === -1 ? undefined : text.slice(percent + 1);
}

/** `fe80::1` of `fe80::1%eth0`: on the wire an address has no zone (RFC 4007 section 11.2). */
export function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent === -1 ? text : text.slice(0, percent);
}

/** `fe80::1%eth0`: a link-local address with its link; any other stays as it is, since it is the same on all links. */
export function formatScoped(address: IpAddress, zone: string | undefined): string {
  const text = formatIpAddress(address);
  return zone !== undefined && isLinkLocal(address) ? `${text}%${zone}` : text;
}

/**
 * The one spelling of an address with or without a zone. The zone of one that is not link-local does not count.
 * @throws RangeError for what is no address
 */
export function canonicalScoped(text: string): string {
  return formatScoped(parseIpAddress(withoutZone(text)), zoneOf(text));
}
