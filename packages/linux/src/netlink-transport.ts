/** How datagrams get to the kernel over netlink and back: the sockets, by their system calls. */
import {
  Domain,
  Level,
  messageTruncated,
  NetlinkOption,
  SocketOption,
  SocketType,
} from './socket-constants.ts';
import { bind, close, connect, receive, send, setSocketOption, socket } from './syscalls.ts';

/** NETLINK_*: what the kernel's end of a netlink socket is (include/uapi/linux/netlink.h). */
export const NetlinkProtocol = { Route: 0, SocketDiagnostics: 4, Netfilter: 12 } as const;

/** One socket that requests go out on, and their answers come in. */
export interface NetlinkTransport {
  /** @throws SystemCallError */
  send(datagram: Uint8Array): void;
  /**
   * Waits for one datagram.
   * @returns its octets, which may be more than there was room for
   * @throws SystemCallError; `EAGAIN` when none came in time, `ENOBUFS` when some were lost
   */
  receive(into: Uint8Array): number;
  close(): void;
}

/** A socket that does not block, for notifications. @returns the file descriptor. @throws SystemCallError */
export function openMonitoredNetlink(protocol: number): number {
  return openNetlink(protocol, { nonBlocking: true });
}

/**
 * A socket for requests.
 * @param answerTime ms after which `receive` gives up
 * @throws SystemCallError; `ENOPROTOOPT` where the kernel is older than 4.20
 */
export function openRequestTransport(protocol: number, answerTime: number): NetlinkTransport {
  const fd = openNetlink(protocol, { nonBlocking: false });
  try {
    setSocketOption(fd, Level.Socket, SocketOption.ReceiveTimeout, timeval(answerTime), 'SO_RCVTIMEO');
    setSocketOption(fd, Level.Netlink, NetlinkOption.CapAck, 1, 'NETLINK_CAP_ACK');
    setSocketOption(fd, Level.Netlink, NetlinkOption.ExtendedAck, 1, 'NETLINK_EXT_ACK');
    setSocketOption(fd, Level.Netlink, NetlinkOption.GetStrictCheck, 1, 'NETLINK_GET_STRICT_CHK');
  } catch (error) {
    close(fd);
    throw error;
  }
  return {
    send: (datagram) => {
      send(fd, datagram);
    },
    receive: (into) => receive(fd, into, messageTruncated),
    close: () => close(fd),
  };
}

/**
 * A socket bound to its own port and connected to the kernel: a connected netlink socket refuses messages of other
 * processes.
 */
function openNetlink(protocol: number, options: { readonly nonBlocking: boolean }): number {
  const type = SocketType.Raw | SocketType.CloseOnExec | (options.nonBlocking ? SocketType.NonBlocking : 0);
  const fd = socket(Domain.Netlink, type, protocol);
  try {
    const kernel = new Uint8Array(12);
    new DataView(kernel.buffer).setUint16(0, Domain.Netlink, true);
    bind(fd, kernel);
    connect(fd, kernel);
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** `struct timeval` of 64 bit machines. */
function timeval(milliseconds: number): Uint8Array {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setBigUint64(0, BigInt(Math.floor(milliseconds / 1000)), true);
  view.setBigUint64(8, BigInt((milliseconds % 1000) * 1000), true);
  return bytes;
}
