/**
 * A netlink socket for requests. Calls block, but not for long: the kernel handles a request inside send(2), so
 * its answer is there when send returns (tens of microseconds).
 *
 * An answer can be lost all the same: the kernel drops it when it has no memory for it or the queue of the socket is full
 * (ENOBUFS). Such a request ends with an error whose `isAnswer` is false, at the latest after `answerTime`, and its socket is
 * closed: a late answer meets no reader, and the next request has a new one.
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
import { NetlinkProtocol, type NetlinkTransport, openRequestTransport } from './netlink-transport.ts';

const { EAGAIN, EBADF, ETIMEDOUT, EMSGSIZE, EBUSY } = constants.errno;

/**
 * How long an answer is waited for in ms, from the request or from the last message that belongs to it. The kernel answers
 * inside send(2) and recv(2): what is not there then is lost, and a wait keeps everything else of this thread waiting.
 */
const answerTime = 500;

/** A dump is asked for again when the table changed underneath (NLM_F_DUMP_INTR), this often at most. */
const dumpAttempts = 8;

/**
 * Requests in one datagram. Their acknowledgements wait in the queue of the socket, which holds some 200 of them, until the last request
 * is done.
 */
const mostTogether = 32;

/** The largest datagram taken. The kernel fills at most 32 KiB per datagram of a dump. */
const receiveBufferLength = 128 * 1024;

/** NLMSGERR_ATTR_MSG: the text of an extended acknowledgement. */
const errorText = 1;

/** What a socket is made of, where it is not the kernel's own: for tests. */
interface NetlinkSocketParts {
  /** @param answerTime ms after which `receive` gives up */
  readonly open?: (protocol: number, answerTime: number) => NetlinkTransport;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Sends requests to the kernel and reads the answers. Not for notifications: see RouteMonitor. */
export class NetlinkSocket {
  #transport: NetlinkTransport | undefined;
  #portId: number | undefined;
  #isClosed = false;
  #sequence = 0;
  #deadline = 0;
  readonly #buffer = new Uint8Array(receiveBufferLength);
  readonly #open: () => NetlinkTransport;
  readonly #now: () => number;

  /**
   * @param protocol NETLINK_*; default NETLINK_ROUTE
   * @throws SystemCallError; `ENOPROTOOPT` where the kernel is older than 4.20
   */
  constructor(protocol: number = NetlinkProtocol.Route, parts: NetlinkSocketParts = {}) {
    const { open = openRequestTransport, now = () => performance.now() } = parts;
    this.#open = () => open(protocol, answerTime);
    this.#now = now;
    this.#transport = this.#open();
  }

  /**
   * By which the kernel names this socket in notifications of what it changed. No other socket has it while this one is open;
   * undefined before the first answer, and again when an answer was lost, which takes another socket.
   */
  get portId(): number | undefined {
    return this.#portId;
  }

  /** Closes the socket; a second call does nothing. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  #drop(): void {
    this.#transport?.close();
    this.#transport = undefined;
    this.#portId = undefined;
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
    const text = `the table changed during ${dumpAttempts} dumps in a row`;
    throw new NetlinkError(request, EBUSY, text, false);
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
          this.#awaitMore();
          throwIfRefused(request, message);
          awaited.delete(message.sequence);
        }
      }
    });
  }

  /**
   * Sends requests that ask for it (NLM_F_ACK), several in one datagram, and waits for the acknowledgement of each. The kernel carries
   * out one after the other, also after one that it refuses.
   * @returns for each the refusal; undefined where there was none
   * @throws NetlinkError when an answer is lost: each of the requests was carried out or not
   */
  eachAcknowledged(
    requests: readonly { readonly name: string; readonly writer: MessageWriter }[],
  ): (NetlinkError | undefined)[] {
    const answers: (NetlinkError | undefined)[] = [];
    for (let begin = 0; begin < requests.length; begin += mostTogether) {
      answers.push(...this.#together(requests.slice(begin, begin + mostTogether)));
    }
    return answers;
  }

  #together(
    requests: readonly { readonly name: string; readonly writer: MessageWriter }[],
  ): (NetlinkError | undefined)[] {
    const [first] = requests;
    const others = requests.length === 1 ? '' : ` and ${requests.length - 1} more`;
    const name = `${first?.name}${others}`;
    return this.#converse(name, () => {
      const writers = requests.map(({ writer }) => writer);
      const sent = (this.#sequence + 1) >>> 0;
      this.#sendAll(name, writers);
      const answers = new Map<number, NetlinkError | undefined>();
      while (answers.size < requests.length) {
        for (const message of this.#receive(name)) {
          // Also where the numbers begin again in between.
          const index = (message.sequence - sent) >>> 0;
          const request = requests[index];
          if (message.type !== ControlType.Error || request === undefined) continue;
          this.#awaitMore();
          answers.set(index, refusalIn(request.name, message));
        }
      }
      return requests.map((_, index) => answers.get(index));
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
        this.#awaitMore();
        if ((message.flags & MessageFlag.DumpInterrupted) !== 0) isConsistent = false;
        if (message.type === ControlType.Error || message.type === ControlType.Done) {
          return { isConsistent, refusal: refusalIn(request, message) };
        }
        if (message.type !== ControlType.Noop) take(message);
      }
    }
  }

  /**
   * Runs a conversation on the socket. One that breaks off (a message that cannot be read, an answer that is lost) leaves a dump in
   * progress, and the kernel would answer the next one by EBUSY: the next request has a new socket.
   */
  #converse<T>(request: string, talk: () => T): T {
    if (this.#isClosed) throw new NetlinkError(request, EBADF, 'the socket is closed');
    let isOver = false;
    try {
      this.#transport ??= this.#reopen(request);
      const result = talk();
      isOver = true;
      return result;
    } finally {
      if (!isOver) this.#drop();
    }
  }

  #reopen(request: string): NetlinkTransport {
    try {
      return this.#open();
    } catch (error) {
      throw error instanceof SystemCallError
        ? new NetlinkError(request, -error.errno, error.message, false)
        : error;
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
    this.#call(request, (transport) => transport.send(datagram));
    this.#awaitMore();
    return datagram;
  }

  /** The next message of the conversation is waited for from now on. */
  #awaitMore(): void {
    this.#deadline = this.#now() + answerTime;
  }

  #receive(request: string): NetlinkMessage[] {
    // What comes meanwhile and belongs to no request must not make the wait longer.
    if (this.#now() >= this.#deadline) throw noAnswer(request);
    const length = this.#call(request, (transport) => transport.receive(this.#buffer));
    if (length > this.#buffer.length) {
      const text = `an answer of ${length} octets, room for ${receiveBufferLength}`;
      throw new NetlinkError(request, EMSGSIZE, text, false);
    }
    const messages = parseMessages(this.#buffer.subarray(0, length));
    this.#portId = messages[0]?.portId;
    return messages;
  }

  #call<T>(request: string, call: (transport: NetlinkTransport) => T): T {
    try {
      if (this.#transport === undefined) throw new NetlinkError(request, EBADF, 'the socket is closed');
      return call(this.#transport);
    } catch (error) {
      if (!(error instanceof SystemCallError)) throw error;
      if (error.errno === -EAGAIN) throw noAnswer(request);
      throw new NetlinkError(request, -error.errno, undefined, false);
    }
  }
}

function noAnswer(request: string): NetlinkError {
  return new NetlinkError(request, ETIMEDOUT, `no answer from the kernel in ${answerTime} ms`, false);
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
