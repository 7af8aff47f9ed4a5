/** Multicast notifications of a netlink protocol, in the event loop. */
import type { Socket } from 'node:net';
import { streamOf } from './descriptor-stream.ts';
import { type NetlinkMessage, parseMessages } from './netlink-message.ts';
import { openMonitoredNetlink } from './netlink-transport.ts';
import { Level, NetlinkOption, SocketOption } from './socket-constants.ts';
import { close, setSocketOption } from './syscalls.ts';

/** Who is told. What a handler throws is given to `error`; nothing is thrown into the event loop. */
export interface NetlinkMonitorHandlers {
  /** A notification, as it came. */
  message(message: NetlinkMessage): void;
  /** Notifications were lost, and the monitor listens again: whatever was known is to be read again. */
  overflow(): void;
  /** A message that could not be read, a handler that threw, or a socket that could not be opened again. */
  error(error: Error): void;
}

/** Sizes and times of a monitor. */
export interface NetlinkMonitorOptions {
  /** Octets of notifications that the kernel keeps for us; default 4 MiB. */
  readonly receiveBuffer?: number;
  /** Least time in ms between two openings of the socket; default 100. A flood costs so many resyncs at most. */
  readonly reopenDelay?: number;
}

const defaultReceiveBuffer = 4 * 1024 * 1024;
const defaultReopenDelay = 100;
const retryDelay = 1000;

/**
 * Listens to the kernel. One read is one datagram.
 *
 * When notifications come faster than they are read, the kernel drops some and says ENOBUFS: the socket is opened
 * again, and `overflow` called.
 */
export class NetlinkMonitor {
  readonly #handlers: NetlinkMonitorHandlers;
  readonly #protocol: number;
  readonly #groups: readonly number[];
  readonly #receiveBuffer: number;
  readonly #reopenDelay: number;
  #socket: Socket | undefined;
  #openedAt = 0;
  #reopening: NodeJS.Timeout | undefined;
  #isClosed = false;

  /**
   * Listens from the moment it is made.
   * @param protocol of netlink(7)
   * @param groups multicast groups, by their numbers
   * @throws SystemCallError when the first socket cannot be opened
   */
  constructor(
    protocol: number,
    groups: readonly number[],
    handlers: NetlinkMonitorHandlers,
    options: NetlinkMonitorOptions = {},
  ) {
    this.#protocol = protocol;
    this.#groups = groups;
    this.#handlers = handlers;
    this.#receiveBuffer = options.receiveBuffer ?? defaultReceiveBuffer;
    this.#reopenDelay = options.reopenDelay ?? defaultReopenDelay;
    this.#open();
  }

  /** Stops listening; no handler is called any more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#reopening);
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): void {
    const socket = openMonitorSocket(this.#protocol, this.#groups, this.#receiveBuffer);
    this.#openedAt = performance.now();
    this.#socket = socket;
    socket.on('data', (datagram: Buffer) => this.#take(datagram));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOBUFS') this.#report(error);
    });
    socket.once('close', () => this.#lost(socket));
  }

  /** The socket is gone, by ENOBUFS as a rule: Node closes a stream on any error. */
  #lost(socket: Socket): void {
    if (this.#isClosed || this.#socket !== socket) return;
    this.#socket = undefined;
    const wait = this.#openedAt + this.#reopenDelay - performance.now();
    if (wait <= 0) this.#reopen();
    else this.#reopenIn(wait);
  }

  #reopenIn(delay: number): void {
    this.#reopening = setTimeout(() => this.#reopen(), delay);
  }

  #reopen(): void {
    if (this.#isClosed) return;
    try {
      this.#open();
    } catch (error) {
      this.#report(error);
      if (!this.#isClosed) this.#reopenIn(retryDelay);
      return;
    }
    this.#guarded(() => this.#handlers.overflow());
  }

  #take(datagram: Uint8Array): void {
    this.#guarded(() => {
      for (const message of parseMessages(datagram)) this.#tell(message);
    });
  }

  #tell(message: NetlinkMessage): void {
    this.#guarded(() => {
      if (!this.#isClosed) this.#handlers.message(message);
    });
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (this.#isClosed) return;
    try {
      this.#handlers.error(error instanceof Error ? error : new Error(String(error)));
    } catch (thrown) {
      // The one who is told of errors failed: a warning is all that is left.
      process.emitWarning(thrown instanceof Error ? thrown : String(thrown));
    }
  }
}

function openMonitorSocket(protocol: number, groups: readonly number[], receiveBuffer: number): Socket {
  const netlink = openMonitoredNetlink(protocol);
  try {
    setReceiveBuffer(netlink, receiveBuffer);
    for (const group of groups) {
      setSocketOption(netlink, Level.Netlink, NetlinkOption.AddMembership, group, 'NETLINK_ADD_MEMBERSHIP');
    }
    return streamOf(netlink);
  } finally {
    close(netlink);
  }
}

function setReceiveBuffer(fd: number, octets: number): void {
  try {
    setSocketOption(fd, Level.Socket, SocketOption.ReceiveBufferForce, octets, 'SO_RCVBUFFORCE');
  } catch {
    // Without CAP_NET_ADMIN in the first user namespace: as much as net.core.rmem_max allows.
    setSocketOption(fd, Level.Socket, SocketOption.ReceiveBuffer, octets, 'SO_RCVBUF');
  }
}
