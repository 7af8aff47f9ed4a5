/** struct sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)), alone and inside struct tcp_md5sig (tcp(7)). */
import {
  AddressFamily,
  addressBytes,
  type IpVersion,
  ipVersion,
  parsePrefix,
  zoneOf,
} from './internet-address.ts';
import { interfaceIndex } from './syscalls.ts';

const mappedPrefix: readonly number[] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** TCP_MD5SIG_MAXKEYLEN: octets. */
const maxPasswordLength = 80;

/** The kind of socket an address or key is for: AF_INET takes IPv4, AF_INET6 takes IPv6 and IPv4-mapped IPv6. */
export type SocketVersion = IpVersion;

/**
 * The address structure for bind(2).
 * @throws RangeError for something that is not an address, or a zone (`fe80::1%eth0`) that is not an interface
 */
export function socketAddress(address: string, port: number): Uint8Array {
  const isIpv4 = ipVersion(address) === 4;
  const bytes = new Uint8Array(isIpv4 ? 16 : 28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, isIpv4 ? AddressFamily.Inet : AddressFamily.Inet6, true);
  view.setUint16(2, port);
  bytes.set(addressBytes(address), isIpv4 ? 4 : 8);
  const zone = zoneOf(address);
  if (zone !== undefined && !isIpv4) view.setUint32(24, zoneIndex(address, zone), true);
  return bytes;
}

function zoneIndex(address: string, zone: string): number {
  const index = /^\d+$/.test(zone) ? Number(zone) : interfaceIndex(zone);
  if (index === 0) throw new RangeError(`the zone of ${address} is not an interface of this host`);
  return index;
}

/** Whether an address is an IPv4 one written for an AF_INET6 socket (RFC 4291 section 2.5.5.2). */
export function isIpv4Mapped(address: string): boolean {
  if (ipVersion(address) === 4) return false;
  const bytes = addressBytes(address);
  return mappedPrefix.every((octet, index) => bytes[index] === octet);
}

/**
 * struct tcp_md5sig, 216 octets: the peer's sockaddr_storage (128), flags u8 (1: a prefix), prefix length u8,
 * key length u16, interface index i32, key (80). A key of no length deletes.
 *
 * On an AF_INET6 socket an IPv4 prefix is written as IPv4-mapped, and keeps its IPv4 length.
 * @param peers an address, or a prefix with its length
 * @throws RangeError for an empty password or one over 80 octets
 */
export function tcpMd5Signature(
  version: SocketVersion,
  peers: string,
  password: string | undefined,
): Uint8Array {
  const prefix = parsePrefix(peers);
  if (version === 4 && prefix.version === 6) {
    throw new RangeError(`a TCP-MD5 key for ${peers} on an IPv4 socket: the socket never sees this peer`);
  }
  const key = new TextEncoder().encode(password ?? '');
  if (password !== undefined && (key.length === 0 || key.length > maxPasswordLength)) {
    throw new RangeError(
      `the TCP-MD5 password for ${peers} has ${key.length} octets; allowed are 1 to ${maxPasswordLength}`,
    );
  }
  const bytes = new Uint8Array(216);
  const view = new DataView(bytes.buffer);
  if (version === 4) {
    view.setUint16(0, AddressFamily.Inet, true);
    bytes.set(prefix.bytes, 4);
  } else {
    view.setUint16(0, AddressFamily.Inet6, true);
    bytes.set(prefix.version === 6 ? prefix.bytes : [...mappedPrefix, ...prefix.bytes], 8);
  }
  if (isHost(prefix.version, prefix.length)) {
    bytes[128] = 0;
  } else {
    bytes[128] = 1;
    bytes[129] = prefix.length;
  }
  view.setUint16(130, key.length, true);
  bytes.set(key, 136);
  return bytes;
}

/** Whether TCP_MD5SIG is enough: TCP_MD5SIG_EXT (kernel 4.13) is for prefixes. */
export function isHostPrefix(peers: string): boolean {
  const { version, length } = parsePrefix(peers);
  return isHost(version, length);
}

function isHost(version: IpVersion, length: number): boolean {
  return length === (version === 4 ? 32 : 128);
}
