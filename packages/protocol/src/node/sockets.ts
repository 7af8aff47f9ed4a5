import { createServer, type Server, Socket, type SocketConnectOpts } from 'node:net';

/** What the connections of one neighbor are given. */
export interface SocketOptions {
  /** The source address of our connections. */
  readonly localAddress?: string;
  /** TCP MD5 signature (RFC 2385). */
  readonly password?: string;
  /** Packets from further away than this many hops are dropped (GTSM, RFC 5082). */
  readonly ttlSecurityHops?: number;
  /** TCP_USER_TIMEOUT in milliseconds: unacknowledged data for longer ends the connection. */
  readonly userTimeout?: number;
}

export interface ListeningSocket {
  readonly address: string;
  readonly port: number;
  /**
   * Sets the TCP MD5 key for the peers of a prefix (`a.b.c.d/len`, a host as /32 or /128).
   * `undefined` removes it; connections that exist keep theirs.
   */
  setPassword(prefix: string, password: string | undefined): void;
  close(): Promise<void>;
}

/** Where TCP sockets come from. `@bgp-lb/linux` has one with all options; `plainSockets` needs nothing but Node. */
export interface Sockets {
  /**
   * An unconnected socket with its options set; the caller connects it to a literal address.
   * Throws when an option cannot be had.
   */
  open(remoteAddress: string, options: SocketOptions): Socket;
  listen(
    options: { address: string; port: number; backlog: number },
    onConnection: (socket: Socket) => void,
  ): Promise<ListeningSocket>;
  /** Sets the options of the neighbor on an accepted connection, before a byte is written or read. */
  accepted(socket: Socket, options: SocketOptions): void;
}

/** Node takes the source address of a connection only when it connects. */
class BoundSocket extends Socket {
  readonly #localAddress: string;

  constructor(localAddress: string) {
    super();
    this.#localAddress = localAddress;
  }

  override connect(
    target: SocketConnectOpts | number | string,
    host?: string | (() => void),
    listener?: () => void,
  ): this {
    if (typeof target !== 'number' || typeof host !== 'string') {
      throw new TypeError('connect of a bound socket: expected a port and a literal address');
    }
    return super.connect({ port: target, host, localAddress: this.#localAddress }, listener);
  }
}

function refuseMissing({ password, ttlSecurityHops }: SocketOptions): void {
  // Silence here would mean a session without the protection that the operator asked for.
  if (password !== undefined) throw new Error('plain sockets cannot do TCP MD5 (RFC 2385)');
  if (ttlSecurityHops !== undefined) throw new Error('plain sockets cannot do GTSM (RFC 5082)');
}

/**
 * Sockets of Node alone. A password or GTSM is refused by an error. `userTimeout` stays the kernel's: it only decides
 * how soon a dead host is noticed, and the hold timer bounds that.
 */
export const plainSockets: Sockets = {
  open(_remoteAddress, options) {
    refuseMissing(options);
    return options.localAddress === undefined ? new Socket() : new BoundSocket(options.localAddress);
  },
  accepted(_socket, options) {
    refuseMissing(options);
  },
  async listen({ address, port, backlog }, onConnection) {
    const server = createServer(onConnection);
    await listening(server, { address, port, backlog });
    const bound = server.address();
    return {
      address,
      port: typeof bound === 'object' && bound !== null ? bound.port : port,
      setPassword(_prefix, password) {
        refuseMissing(password === undefined ? {} : { password });
      },
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve());
        }),
    };
  },
};

function listening(
  server: Server,
  { address, port, backlog }: { address: string; port: number; backlog: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: address, port, backlog }, () => {
      server.off('error', reject);
      // Errors of accept, such as a lack of descriptors, pass; the listener stays.
      server.on('error', () => undefined);
      resolve();
    });
  });
}
