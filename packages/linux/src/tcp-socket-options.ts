/** TCP socket options that Node does not offer, set on a file descriptor. */
import { ipVersion } from './internet-address.ts';
import { isHostPrefix, isIpv4Mapped, type SocketVersion, tcpMd5Signature } from './socket-address.ts';
import { IpOption, Ipv6Option, Level, SocketOption, TcpOption } from './socket-constants.ts';
import { setSocketOption } from './syscalls.ts';

/** DSCP CS6, network control, as the octet of IP_TOS and IPV6_TCLASS (RFC 4271 appendix E, RFC 4594 section 3.2). */
export const networkControlClass = 0xc0;

const maxHops = 255;

/** Which of the two header formats the packets of a connection have, and the kind of its socket. */
export interface ConnectionKind {
  readonly socket: SocketVersion;
  /** 4 on an AF_INET6 socket whose peer is IPv4-mapped. */
  readonly packets: SocketVersion;
}

/** The kind of a connection with a peer, by the address that Node gives. */
export function connectionKind(remoteAddress: string): ConnectionKind {
  if (ipVersion(remoteAddress) === 4) return { socket: 4, packets: 4 };
  return { socket: 6, packets: isIpv4Mapped(remoteAddress) ? 4 : 6 };
}

/**
 * Sets or removes the TCP-MD5 key (RFC 2385) for an address or a prefix.
 * @param password 1 to 80 octets; undefined removes
 */
export function setTcpMd5Key(
  fd: number,
  version: SocketVersion,
  peers: string,
  password: string | undefined,
): void {
  const signature = tcpMd5Signature(version, peers, password);
  if (isHostPrefix(peers)) {
    setSocketOption(fd, Level.Tcp, TcpOption.Md5Signature, signature, 'TCP_MD5SIG');
  } else {
    setSocketOption(fd, Level.Tcp, TcpOption.Md5SignatureExtended, signature, 'TCP_MD5SIG_EXT');
  }
}

/** Packets leave with TTL or hop limit 255, on both kinds of packets that an AF_INET6 socket can send. */
export function setMaxTtl(fd: number, version: SocketVersion): void {
  setSocketOption(fd, Level.Ip, IpOption.Ttl, maxHops, 'IP_TTL');
  if (version === 6) setSocketOption(fd, Level.Ipv6, Ipv6Option.UnicastHops, maxHops, 'IPV6_UNICAST_HOPS');
}

/**
 * GTSM (RFC 5082 section 3) in both directions: packets leave with TTL 255, and the kernel drops those that arrive
 * with less than 256 - hops.
 * @param hops 1 for a neighbor on the same link, to 254
 */
export function setTtlSecurity(fd: number, { socket, packets }: ConnectionKind, hops: number): void {
  if (!Number.isInteger(hops) || hops < 1 || hops > 254) {
    throw new RangeError(`TTL security hops: ${hops}; allowed are 1 to 254`);
  }
  setMaxTtl(fd, socket);
  const least = maxHops + 1 - hops;
  if (packets === 4) setSocketOption(fd, Level.Ip, IpOption.MinTtl, least, 'IP_MINTTL');
  else setSocketOption(fd, Level.Ipv6, Ipv6Option.MinHopCount, least, 'IPV6_MINHOPCOUNT');
}

/** The traffic class of packets sent. An AF_INET6 socket takes both, for IPv4-mapped peers. */
export function setTrafficClass(fd: number, version: SocketVersion, octet: number): void {
  setSocketOption(fd, Level.Ip, IpOption.Tos, octet, 'IP_TOS');
  if (version === 6) setSocketOption(fd, Level.Ipv6, Ipv6Option.TrafficClass, octet, 'IPV6_TCLASS');
}

/** TCP_USER_TIMEOUT (RFC 5482): how long sent data may stay unacknowledged. @param timeout ms */
export function setUserTimeout(fd: number, timeout: number): void {
  if (!Number.isInteger(timeout) || timeout < 0 || timeout > 0x7fff_ffff) {
    throw new RangeError(`TCP user timeout: ${timeout}; allowed are 0 to 2147483647 ms`);
  }
  setSocketOption(fd, Level.Tcp, TcpOption.UserTimeout, timeout, 'TCP_USER_TIMEOUT');
}

/** SO_MARK, which rules by fwmark see. */
export function setMark(fd: number, mark: number): void {
  setSocketOption(fd, Level.Socket, SocketOption.Mark, mark, 'SO_MARK');
}

/** SO_BINDTODEVICE: the socket sends and receives by this interface only. */
export function bindToDevice(fd: number, device: string): void {
  const name = new TextEncoder().encode(`${device}\0`);
  setSocketOption(fd, Level.Socket, SocketOption.BindToDevice, name, 'SO_BINDTODEVICE');
}
