/**
 * An outgoing TCP socket whose options are set before its SYN leaves. Node makes its handle in connect() and gives no
 * hook in between, so the descriptor is made here and handed over.
 */
import type { Socket } from 'node:net';
import { familyOf, ipVersion } from './internet-address.ts';
import { PreparedSocket } from './prepared-socket.ts';
import { socketAddress } from './socket-address.ts';
import { IpOption, Level, SocketType, TcpOption } from './socket-constants.ts';
import { bind, close, setSocketOption, socket } from './syscalls.ts';
import {
  bindToDevice,
  connectionKind,
  setMark,
  setTcpMd5Key,
  setTrafficClass,
  setTtlSecurity,
  setUserTimeout,
} from './tcp-socket-options.ts';

/** Options of an outgoing TCP socket. */
export interface TcpSocketOptions {
  /** The source address; it must be one of this host. */
  readonly localAddress?: string;
  /** The TCP-MD5 key (RFC 2385), 1 to 80 octets. A wrong one shows as silence: see tcpMd5Counters. */
  readonly password?: string;
  /** GTSM (RFC 5082): the peer is at most so many hops away; 1 to 254. */
  readonly ttlSecurityHops?: number;
  /** TCP_USER_TIMEOUT in ms: the connection fails when data stays unacknowledged for so long. */
  readonly userTimeout?: number;
  /** SO_MARK, for rules by fwmark: health checks by a chosen route. */
  readonly mark?: number;
  /** SO_BINDTODEVICE: the interface's name. */
  readonly device?: string;
  /** TCP_NODELAY. */
  readonly noDelay?: boolean;
  /** The octet of IP_TOS or IPV6_TCLASS. */
  readonly trafficClass?: number;
}

/**
 * Makes an unconnected socket with its options set. The caller calls `connect(port, address)` with the same literal
 * address, or `destroy()`. A socket is good for one attempt, since Node closes it when that fails; connect() throws
 * when it is tried again, or for another address, since the options would be gone.
 *
 * @throws SystemCallError naming the option (`EADDRNOTAVAIL` for a source that is not ours, `ENODEV`, `EPERM`)
 * @throws RangeError for a value that cannot be, the zone of a link-local address that is not an interface among them
 */
export function openTcpSocket(remoteAddress: string, options: TcpSocketOptions = {}): Socket {
  const version = ipVersion(remoteAddress);
  const type = SocketType.Stream | SocketType.NonBlocking | SocketType.CloseOnExec;
  const fd = socket(familyOf(version), type, 0);
  try {
    setOptions(fd, remoteAddress, options);
    return new PreparedSocket(fd, remoteAddress);
  } catch (error) {
    close(fd);
    throw error;
  }
}

function setOptions(fd: number, remoteAddress: string, options: TcpSocketOptions): void {
  // Node would connect without the zone that it does not find, which is EINVAL.
  socketAddress(remoteAddress, 0);
  const kind = connectionKind(remoteAddress);
  const { localAddress, password, ttlSecurityHops, userTimeout, mark, device, trafficClass } = options;
  if (options.noDelay === true) setSocketOption(fd, Level.Tcp, TcpOption.NoDelay, 1, 'TCP_NODELAY');
  if (trafficClass !== undefined) setTrafficClass(fd, kind.socket, trafficClass);
  if (ttlSecurityHops !== undefined) setTtlSecurity(fd, kind, ttlSecurityHops);
  if (userTimeout !== undefined) setUserTimeout(fd, userTimeout);
  if (mark !== undefined) setMark(fd, mark);
  if (device !== undefined) bindToDevice(fd, device);
  if (password !== undefined) setTcpMd5Key(fd, kind.socket, remoteAddress, password);
  if (localAddress !== undefined) bindSource(fd, localAddress);
}

function bindSource(fd: number, localAddress: string): void {
  // The port is chosen in connect(2), by the whole four-tuple, so that sources do not run out of ports.
  setSocketOption(fd, Level.Ip, IpOption.BindAddressNoPort, 1, 'IP_BIND_ADDRESS_NO_PORT');
  bind(fd, socketAddress(localAddress, 0));
}
