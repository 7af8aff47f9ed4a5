/**
 * A netlink socket for requests. Calls block, but not for long: the kernel handles a request inside send(2), so
 * its answer is there when send returns (tens of microseconds).
 */
import { constants } from 'node:os';
import { SystemCallError } from './errno.ts';
import { NetlinkError, NetlinkFormatError } from './netlink-error.ts';
import {
  Attributes,
  ControlType,
  MessageFlag,
  type MessageWriter,
  type NetlinkMessage,
  parseMessages,
} from './netlink-message.ts';
import {
  Domain,
  Level,
  messageTruncated,
  NetlinkOption,
  SocketOption,
  SocketType,
} from './socket-constants.ts';
import { bind, close, connect, receive, send, setSocketOption, socket } from './syscalls.ts';

const { EAGAIN, EBADF, ETIMEDOUT, EMSGSIZE, EBUSY } = constants.errno;

/** The kernel answers inside send(2) and recv(2): an answer that is not there then will not come. */
const receiveTimeoutSeconds = 2;

/** A dump is asked for again when the table changed underneath (NLM_F_DUMP_INTR), this often at most. */
const dumpAttempts = 8;

/** The largest datagram taken. The kernel fills at most 32 KiB per datagram of a dump. */
const receiveBufferLength = 128 * 1024;

/** NLMSGERR_ATTR_MSG: the text of an extended acknowledgement. */
const errorText = 1;

/** NETLINK_*: what the kernel's end of a netlink socket is (include/uapi/linux/netlink.h). */
export const NetlinkProtocol = { Route: 0, SocketDiagnostics: 4, Netfilter: 12 } as const;

/** A socket that does not block, for notifications. @returns the file descriptor. @throws SystemCallError */
export function openMonitoredNetlink(protocol: number): number {
  return openNetlink(protocol, { nonBlocking: true });
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

function openRequestSocket(protocol: number): number {
  const fd = openNetlink(protocol, { nonBlocking: false });
  try {
    const timeout = new Uint8Array(16);
    new DataView(timeout.buffer).setUint32(0, receiveTimeoutSeconds, true);
    setSocketOption(fd, Level.Socket, SocketOption.ReceiveTimeout, timeout, 'SO_RCVTIMEO');
    setSocketOption(fd, Level.Netlink, NetlinkOption.CapAck, 1, 'NETLINK_CAP_ACK');
    setSocketOption(fd, Level.Netlink, NetlinkOption.ExtendedAck, 1, 'NETLINK_EXT_ACK');
    setSocketOption(fd, Level.Netlink, NetlinkOption.GetStrictCheck, 1, 'NETLINK_GET_STRICT_CHK');
    return fd;
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** Sends requests to the kernel and reads the answers. Not for notifications: see RouteMonitor. */
export class NetlinkSocket {
  #fd = -1;
  #isClosed = false;
  #sequence = 0;
  readonly #buffer = new Uint8Array(receiveBufferLength);
  readonly #protocol: number;

  /**
   * @param protocol NETLINK_*; default NETLINK_ROUTE
   * @throws SystemCallError; `ENOPROTOOPT` where the kernel is older than 4.20
   */
  constructor(protocol: number = NetlinkProtocol.Route) {
    this.#protocol = protocol;
    this.#fd = openRequestSocket(protocol);
  }

  /** Closes the socket; a second call does nothing. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    if (this.#fd === -1) return;
    close(this.#fd);
    this.#fd = -1;
  }

  /**
   * Sends a request with NLM_F_ACK and waits for the acknowledgement.
   * @param request what is asked, in words, for errors
   * @throws NetlinkError
   */
  acknowledged(request: string, writer: MessageWriter): void {
    this.#exchange(request, writer, () => {});
  }

  /** Sends a request that one message answers. @throws NetlinkError */
  answer<T>(request: string, writer: MessageWriter, parse: (message: NetlinkMessage) => T): T {
    const answers: T[] = [];
    this.#exchange(request, writer, (message) => answers.push(parse(message)));
    const [first] = answers;
    if (first === undefined) throw new NetlinkFormatError(`${request}: acknowledged without an answer`);
    return first;
  }

  /**
   * Sends a dump request. Messages for which `parse` gives undefined are left out.
   * @throws NetlinkError; `EBUSY` when the table changed during each attempt
   */
  dump<T>(request: string, writer: MessageWriter, parse: (message: NetlinkMessage) => T | undefined): T[] {
    for (let attempt = 0; attempt < dumpAttempts; attempt++) {
      const found: T[] = [];
      const consistent = this.#exchange(request, writer, (message) => {
        const one = parse(message);
        if (one !== undefined) found.push(one);
      });
      if (consistent) return found;
    }
    throw new NetlinkError(request, EBUSY, `the table changed during ${dumpAttempts} dumps in a row`);
  }

  /**
   * Sends messages in one datagram, and waits until each that asks for it (NLM_F_ACK) is acknowledged. A message after one that is
   * refused may have been carried out, unless the subsystem takes the datagram as a transaction.
   * @throws NetlinkError for the first that is refused
   */
  allAcknowledged(request: string, writers: readonly MessageWriter[]): void {
    this.#converse(request, () => {
      const messages = parseMessages(this.#sendAll(request, writers));
      const sequences = new Set(messages.map(({ sequence }) => sequence));
      const awaited = new Set(
        messages.filter(({ flags }) => (flags & MessageFlag.Ack) !== 0).map(({ sequence }) => sequence),
      );
      while (awaited.size > 0) {
        for (const message of this.#receive(request)) {
          if (message.type !== ControlType.Error || !sequences.has(message.sequence)) continue;
          throwIfRefused(request, message);
          awaited.delete(message.sequence);
        }
      }
    });
  }

  /** @returns false when a dump was interrupted by a change. */
  #exchange(request: string, writer: MessageWriter, take: (message: NetlinkMessage) => void): boolean {
    const { isConsistent, refusal } = this.#converse(request, () => {
      this.#sendAll(request, [writer]);
      return this.#readToEnd(request, take);
    });
    // The conversation is over all the same, and the socket can be used again.
    if (refusal !== undefined) throw refusal;
    return isConsistent;
  }

  /** Takes the answers to the last request. */
  #readToEnd(
    request: string,
    take: (message: NetlinkMessage) => void,
  ): { readonly isConsistent: boolean; readonly refusal: NetlinkError | undefined } {
    let isConsistent = true;
    for (;;) {
      for (const message of this.#receive(request)) {
        if (message.sequence !== this.#sequence) continue;
        if ((message.flags & MessageFlag.DumpInterrupted) !== 0) isConsistent = false;
        if (message.type === ControlType.Error || message.type === ControlType.Done) {
          return { isConsistent, refusal: refusalIn(request, message) };
        }
        if (message.type !== ControlType.Noop) take(message);
      }
    }
  }

  /**
   * Runs a conversation on the socket. One that breaks off (a message that cannot be read) leaves a dump in progress, and the kernel
   * would answer the next one by EBUSY: the next request has a new socket.
   */
  #converse<T>(request: string, talk: () => T): T {
    if (this.#isClosed) throw new NetlinkError(request, EBADF, 'the socket is closed');
    let isOver = false;
    try {
      if (this.#fd === -1) this.#fd = openRequestSocket(this.#protocol);
      const result = talk();
      isOver = true;
      return result;
    } finally {
      if (!isOver) this.#drop();
    }
  }

  /** Sends messages, numbered one after the other, in one datagram. @returns the datagram */
  #sendAll(request: string, writers: readonly MessageWriter[]): Uint8Array {
    const messages = writers.map((writer) => {
      this.#sequence = (this.#sequence + 1) >>> 0;
      return writer.finish(this.#sequence);
    });
    const [only] = messages;
    const datagram = only !== undefined && messages.length === 1 ? only : Buffer.concat(messages);
    this.#call(request, () => send(this.#fd, datagram));
    return datagram;
  }

  #receive(request: string): NetlinkMessage[] {
    const length = this.#call(request, () => receive(this.#fd, this.#buffer, messageTruncated));
    if (length > this.#buffer.length) {
      throw new NetlinkError(
        request,
        EMSGSIZE,
        `an answer of ${length} octets, room for ${receiveBufferLength}`,
      );
    }
    return parseMessages(this.#buffer.subarray(0, length));
  }

  #call(request: string, call: () => number): number {
    try {
      return call();
    } catch (error) {
      if (!(error instanceof SystemCallError)) throw error;
      if (error.errno === -EAGAIN) {
        throw new NetlinkError(request, ETIMEDOUT, `no answer from the kernel in ${receiveTimeoutSeconds} s`);
      }
      throw new NetlinkError(request, -error.errno);
    }
  }
}

/** @throws NetlinkError when a message refuses what was asked: see `refusalIn`. @throws NetlinkFormatError */
export function throwIfRefused(request: string, message: NetlinkMessage): void {
  const refusal = refusalIn(request, message);
  if (refusal !== undefined) throw refusal;
}

/**
 * Reads NLMSG_ERROR (an acknowledgement when the number is 0) and the end of a dump, which may carry an error too.
 * @throws NetlinkFormatError
 */
function refusalIn(request: string, message: NetlinkMessage): NetlinkError | undefined {
  const { payload } = message;
  // The end of a dump has no number in old kernels.
  if (payload.length < 4 && message.type === ControlType.Done) return undefined;
  if (payload.length < 4) throw new NetlinkFormatError('an acknowledgement without an error number');
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const number = view.getInt32(0, true);
  return number >= 0 ? undefined : new NetlinkError(request, -number, extendedText(message, view));
}

function extendedText(message: NetlinkMessage, view: DataView): string | undefined {
  if ((message.flags & MessageFlag.AckAttributes) === 0) return undefined;
  let offset = 4;
  if (message.type === ControlType.Error) {
    if (view.byteLength < 20) return undefined;
    const requestLength = (message.flags & MessageFlag.Capped) === 0 ? view.getUint32(4, true) : 16;
    if (requestLength > view.byteLength) return undefined;
    offset += (requestLength + 3) & ~3;
  }
  return new Attributes(message.payload.subarray(offset)).string(errorText);
}
