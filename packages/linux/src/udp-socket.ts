/**
 * UDP for BFD on Linux: receivers that drop what did not come from the next hop before Node sees it, and senders with
 * TTL 255, network control precedence and a source port of their own (RFC 5881 sections 4 and 5).
 */
import { randomInt } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { DatagramBatch } from './datagram-batch.ts';
import { SystemCallError } from './errno.ts';
import { familyOf, type IpVersion, ipVersion } from './internet-address.ts';
import { socketAddress } from './socket-address.ts';
import { Ipv6Option, Level, messageDoNotWait, SocketType } from './socket-constants.ts';
import { bind, close, sendTo, setSocketOption, socket } from './syscalls.ts';
import { bindToDevice, networkControlClass, setMaxTtl, setTrafficClass } from './tcp-socket-options.ts';
import { acceptNothing, acceptOnlyTtl255 } from './ttl-filter.ts';

/** A socket that receives datagrams of one address family on all addresses of the host. */
export interface UdpReceiveOptions {
  readonly version: IpVersion;
  readonly port: number;
  /** Only datagrams that arrive with TTL or hop limit 255 (RFC 5881 section 5). */
  readonly onlyTtl255: boolean;
}

/**
 * Called for each datagram. The payload is the socket's own memory again when the call returns, and it is cut after 512
 * octets. `source` says which address it comes from, `192.0.2.1` or `fe80::1%eth0`; it is to be asked before that too.
 */
export type DatagramHandler = (payload: Uint8Array, source: () => string) => void;

/** Where a sender sends, and from where. */
export interface UdpSendOptions {
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** The source address; the kernel's choice for each datagram when it is absent. */
  readonly localAddress?: string;
  /** SO_BINDTODEVICE: the interface's name. */
  readonly device?: string;
}

/** A socket that is receiving. */
export interface LinuxUdpReceiver {
  close(): void;
}

/** A socket that sends to one address. */
export interface LinuxUdpSender {
  /** 49152 to 65535, of no other socket. */
  readonly port: number;
  /**
   * Sends one datagram without waiting.
   * @throws SystemCallError `ENETUNREACH`, `EAGAIN` when the interface's queue is full, and the like
   */
  send(payload: Uint8Array): void;
  close(): void;
}

/** What a BFD implementation needs of UDP. */
export interface LinuxUdpSockets {
  receive(
    options: UdpReceiveOptions,
    onDatagram: DatagramHandler,
    onError: (error: Error) => void,
  ): LinuxUdpReceiver;
  open(options: UdpSendOptions): LinuxUdpSender;
}

/** The source ports of BFD (RFC 5881 section 4). */
const sourcePorts = { first: 49_152, last: 65_535 } as const;
/** More than any BFD Control packet: its length is one octet. */
const payloadSize = 512;
/** Datagrams of one recvmmsg(2). */
const batchSize = 32;
/** Random ports tried until one is free. */
const portAttempts = 64;

const datagram = SocketType.Datagram | SocketType.NonBlocking | SocketType.CloseOnExec;

/**
 * UDP sockets for BFD on Linux. All calls act on the calling thread and in the network namespace of the process.
 *
 * - `receive` throws `SystemCallError` when the port is taken (`EADDRINUSE`: another BFD daemon runs) or forbidden.
 *   It is not bound with SO_REUSEADDR: two daemons would take each other's packets.
 * - `open` throws when the source address or the device is not there (`EADDRNOTAVAIL`, `ENODEV`).
 */
export const linuxUdpSockets: LinuxUdpSockets = {
  receive({ version, port, onlyTtl255 }, onDatagram, onError) {
    const fd = socket(familyOf(version), datagram, 0);
    try {
      if (version === 6) setSocketOption(fd, Level.Ipv6, Ipv6Option.V6Only, 1, 'IPV6_V6ONLY');
      // Before bind(2), so that nothing arrives without having passed it.
      if (onlyTtl255) acceptOnlyTtl255(fd, version);
      bind(fd, socketAddress(version === 4 ? '0.0.0.0' : '::', port));
      return receiver(fd, version, onDatagram, onError);
    } catch (error) {
      close(fd);
      throw error;
    }
  },

  open(options) {
    const version = ipVersion(options.remoteAddress);
    const target = socketAddress(options.remoteAddress, options.remotePort);
    const fd = socket(familyOf(version), datagram, 0);
    try {
      acceptNothing(fd);
      setMaxTtl(fd, version);
      setTrafficClass(fd, version, networkControlClass);
      if (options.device !== undefined) bindToDevice(fd, options.device);
      const port = bindSourcePort(fd, options.localAddress ?? (version === 4 ? '0.0.0.0' : '::'));
      return sender(fd, port, target);
    } catch (error) {
      close(fd);
      throw error;
    }
  },
};

/**
 * Hands a bound descriptor to Node by the public way. Node tells of each datagram by itself and has 64 kB ready for it;
 * so the first one says that there are some, and those that wait behind it are read together, in a bounded number: a
 * flood must not keep the thread from its timers.
 */
function receiver(
  fd: number,
  version: IpVersion,
  onDatagram: DatagramHandler,
  onError: (error: Error) => void,
): LinuxUdpReceiver {
  const node: Socket = createSocket({ type: version === 4 ? 'udp4' : 'udp6' });
  const batch = new DatagramBatch(batchSize, payloadSize);
  node.on('message', (payload: Uint8Array, { address }: RemoteInfo) => {
    onDatagram(payload, () => address);
    if (isOpen) readWaiting();
  });
  node.on('error', onError);
  node.bind({ fd });
  let isOpen = true;
  const readWaiting = (): void => {
    let count: number;
    try {
      count = batch.receive(fd);
    } catch (error) {
      onError(error as Error);
      return;
    }
    // A handler may close the socket: the rest has no reader then.
    for (let index = 0; index < count && isOpen; index += 1) {
      onDatagram(batch.payload(index), () => batch.source(index));
    }
  };
  return {
    close() {
      if (!isOpen) return;
      isOpen = false;
      node.close();
    },
  };
}

function sender(fd: number, port: number, target: Uint8Array): LinuxUdpSender {
  let isOpen = true;
  return {
    port,
    send(payload) {
      if (isOpen) sendTo(fd, payload, target, messageDoNotWait);
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      close(fd);
    },
  };
}

/** Binds to a random port of the range that is free. */
function bindSourcePort(fd: number, localAddress: string): number {
  for (let attempt = 1; ; attempt += 1) {
    const port = randomInt(sourcePorts.first, sourcePorts.last + 1);
    try {
      bind(fd, socketAddress(localAddress, port));
      return port;
    } catch (error) {
      const isTaken = error instanceof SystemCallError && error.code === 'EADDRINUSE';
      if (!isTaken || attempt === portAttempts) throw error;
    }
  }
}
