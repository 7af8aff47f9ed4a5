/** Numbers of socket(2) and setsockopt(2), as on x86, ARM and RISC-V (include/uapi/asm-generic/socket.h). */

/** AF_*, besides AF_INET and AF_INET6. */
export const Domain = { Unix: 1, Inet: 2, Inet6: 10, Netlink: 16 } as const;

/** SOCK_*. */
export const SocketType = {
  Stream: 1,
  Datagram: 2,
  Raw: 3,
  NonBlocking: 0o4000,
  CloseOnExec: 0o2000000,
} as const;

/** MSG_TRUNC: recv(2) returns the length the datagram had. */
export const messageTruncated = 0x20;

/** MSG_DONTWAIT: the call does not wait, whatever the socket is set to. */
export const messageDoNotWait = 0x40;

/** O_CLOEXEC. */
export const closeOnExec = 0o2000000;

/** The level of an option. */
export const Level = { Socket: 1, Ip: 0, Tcp: 6, Ipv6: 41, Netlink: 270 } as const;

/** SO_*. */
export const SocketOption = {
  ReuseAddress: 2,
  ReceiveBuffer: 8,
  ReceiveTimeout: 20,
  BindToDevice: 25,
  AttachFilter: 26,
  ReceiveBufferForce: 33,
  Mark: 36,
} as const;

/** IP_*. */
export const IpOption = { Tos: 1, Ttl: 2, Freebind: 15, MinTtl: 21, BindAddressNoPort: 24 } as const;

/** IPV6_*. */
export const Ipv6Option = {
  UnicastHops: 16,
  V6Only: 26,
  TrafficClass: 67,
  MinHopCount: 73,
  Freebind: 78,
} as const;

/** TCP_*. */
export const TcpOption = { NoDelay: 1, Md5Signature: 14, UserTimeout: 18, Md5SignatureExtended: 32 } as const;

/** NETLINK_*: options of SOL_NETLINK. */
export const NetlinkOption = { AddMembership: 1, CapAck: 10, ExtendedAck: 11, GetStrictCheck: 12 } as const;
