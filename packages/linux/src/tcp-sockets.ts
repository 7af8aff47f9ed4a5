/** TCP for BGP on Linux: connections and listeners with TCP-MD5, GTSM and network control precedence. */
import { createServer, type Server, type Socket } from 'node:net';
import { familyOf, ipVersion, withoutZone } from './internet-address.ts';
import { type SocketVersion, socketAddress } from './socket-address.ts';
import { IpOption, Ipv6Option, Level, SocketOption, SocketType } from './socket-constants.ts';
import { descriptorOf } from './socket-descriptor.ts';
import { bind, close, setSocketOption, socket } from './syscalls.ts';
import { openTcpSocket } from './tcp-socket.ts';
import {
  connectionKind,
  networkControlClass,
  setMaxTtl,
  setTcpMd5Key,
  setTrafficClass,
  setTtlSecurity,
  setUserTimeout,
} from './tcp-socket-options.ts';

/** Options of a connection with one BGP neighbor. */
export interface NeighborSocketOptions {
  /** The source address; outgoing connections only. */
  readonly localAddress?: string;
  /** The TCP-MD5 key (RFC 2385), 1 to 80 octets. */
  readonly password?: string;
  /** GTSM (RFC 5082): the peer is at most so many hops away; 1 to 254. */
  readonly ttlSecurityHops?: number;
  /** TCP_USER_TIMEOUT in ms. */
  readonly userTimeout?: number;
}

/**
 * Where to listen. `::` takes IPv4 too, unless this process already listens on 0.0.0.0 with the same port. Another address need not be
 * one of this host yet (IP_FREEBIND): a connection to it is accepted once it is.
 */
export interface ListenOptions {
  readonly address: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Connections that wait for accept(2); the kernel's limit is net.core.somaxconn. */
  readonly backlog: number;
}

/** A socket that listens, and the TCP-MD5 keys of those who may connect. */
export interface LinuxListeningSocket {
  readonly address: string;
  readonly port: number;
  /**
   * Sets the key for an address or a prefix (`10.0.0.0/24`), or removes it with undefined. A connection keeps the
   * key it was accepted with. About 960 keys fit on a listener (net.core.optmem_max): for many peers use a prefix.
   * @throws SystemCallError `ENOENT` when there is nothing to remove, `ENOMEM` when the keys do not fit
   */
  setPassword(prefix: string, password: string | undefined): void;
  /** Stops listening; connections live on. Resolves when the descriptor is closed. */
  close(): Promise<void>;
}

/** What a BGP implementation needs of TCP. */
export interface LinuxSockets {
  open(remoteAddress: string, options: NeighborSocketOptions): Socket;
  listen(options: ListenOptions, onConnection: (socket: Socket) => void): Promise<LinuxListeningSocket>;
  accepted(socket: Socket, options: NeighborSocketOptions): void;
}

/** Ports on which this process listens on 0.0.0.0, with the number of such listeners. */
const ipv4WildcardPorts = new Set<number>();

/**
 * TCP sockets for BGP on Linux.
 *
 * - `open` makes an unconnected socket; the caller calls connect(port, literal address).
 * - `listen` makes a listener whose SYN-ACKs leave with TTL 255, so that neighbors with GTSM hear them.
 * - `accepted` sets a neighbor's options on an accepted connection; call it before anything is read or written. With
 *   a password it holds the connection to the key from then on, also when the listener had none for the peer.
 *   What the peer sent between its handshake and this call was not checked against TTL and such a late key: set keys
 *   on the listener first.
 */
export const linuxSockets: LinuxSockets = {
  open(remoteAddress, options) {
    return openTcpSocket(remoteAddress, { ...options, noDelay: true, trafficClass: networkControlClass });
  },

  async listen(options, onConnection) {
    const version = ipVersion(options.address);
    const server = createServer({ noDelay: true }, onConnection);
    const fd = bindListener(version, options);
    // Node owns the descriptor from here on, and closes it when listening fails.
    await startListening(server, fd, options.backlog);
    return new Listener(server, fd, version);
  },

  accepted(accepted, options) {
    const fd = descriptorOf(accepted);
    const { remoteAddress } = accepted;
    if (remoteAddress === undefined) throw new Error('the accepted connection is closed already');
    const kind = connectionKind(remoteAddress);
    setTrafficClass(fd, kind.socket, networkControlClass);
    if (options.ttlSecurityHops !== undefined) setTtlSecurity(fd, kind, options.ttlSecurityHops);
    if (options.userTimeout !== undefined) setUserTimeout(fd, options.userTimeout);
    if (options.password !== undefined) {
      setTcpMd5Key(fd, kind.socket, withoutZone(remoteAddress), options.password);
    }
  },
};

function bindListener(version: SocketVersion, { address, port }: ListenOptions): number {
  const type = SocketType.Stream | SocketType.NonBlocking | SocketType.CloseOnExec;
  const fd = socket(familyOf(version), type, 0);
  try {
    setSocketOption(fd, Level.Socket, SocketOption.ReuseAddress, 1, 'SO_REUSEADDR');
    if (version === 6) {
      const ipv6Only = ipv4WildcardPorts.has(port) ? 1 : 0;
      setSocketOption(fd, Level.Ipv6, Ipv6Option.V6Only, ipv6Only, 'IPV6_V6ONLY');
    }
    setMaxTtl(fd, version);
    setTrafficClass(fd, version, networkControlClass);
    // An overlay or a VPN may bring the address long after this.
    if (version === 6) setSocketOption(fd, Level.Ipv6, Ipv6Option.Freebind, 1, 'IPV6_FREEBIND');
    else setSocketOption(fd, Level.Ip, IpOption.Freebind, 1, 'IP_FREEBIND');
    bind(fd, socketAddress(address, port));
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
}

function startListening(server: Server, fd: number, backlog: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ fd }, backlog, () => {
      server.off('error', reject);
      // accept(2) can fail for want of descriptors or memory: one connection is lost, and nothing else.
      server.on('error', (error) => process.emitWarning(error));
      resolve();
    });
  });
}

class Listener implements LinuxListeningSocket {
  readonly address: string;
  readonly port: number;
  readonly #server: Server;
  readonly #fd: number;
  readonly #version: SocketVersion;

  constructor(server: Server, fd: number, version: SocketVersion) {
    this.#server = server;
    this.#fd = fd;
    this.#version = version;
    const bound = server.address();
    if (bound === null || typeof bound === 'string')
      throw new Error('a TCP listener without address and port');
    this.address = bound.address;
    this.port = bound.port;
    if (bound.address === '0.0.0.0') ipv4WildcardPorts.add(bound.port);
  }

  setPassword(prefix: string, password: string | undefined): void {
    // The number may name something else once the server closed it.
    if (!this.#server.listening)
      throw new Error(`the listener on ${this.address} port ${this.port} is closed`);
    setTcpMd5Key(this.#fd, this.#version, prefix, password);
  }

  close(): Promise<void> {
    if (this.address === '0.0.0.0') ipv4WildcardPorts.delete(this.port);
    // The callback of close() waits for all connections, which are not ours: the descriptor is closed at once.
    if (this.#server.listening) this.#server.close();
    return Promise.resolve();
  }
}
