import type { Socket } from 'node:net';
import {
  type AttributeMemory,
  type CodecContext,
  encodeKeepalive,
  encodeMessage,
  endpointText,
  Framer,
  type Message,
  type NotificationContent,
  NotificationError,
  type OpenMessage,
  type ReceivedMessage,
  readMessage,
  type TcpFailure,
} from '../index.ts';
import type { Clock } from './clock.ts';

/** How long a closed connection may take to hand over its last octets, in milliseconds. */
const LINGER = 2000;
/** How long one connection's messages may keep everything else of this process waiting, in milliseconds. */
const READ_SLICE = 5;

/** The 19 octets that sessions exchange all the time, ready for the socket. */
const keepaliveOctets: Uint8Array = Buffer.from(encodeKeepalive());
/** Written behind what waits for room, to hear when that has left. */
const nothing: Uint8Array = Buffer.alloc(0);

/** Octets of whole messages on a connection, as they are. */
export interface Traffic {
  /** We sent them; else they were received. */
  readonly isSent: boolean;
  /** One received message, or messages that were sent in one piece: to be read only. Received ones are to be copied: their memory is used again. */
  readonly bytes: Uint8Array;
  /** What they were read or written by. */
  readonly context: CodecContext;
  /** Address and port, `10.0.0.10:179`; undefined when the connection has ended. */
  readonly localAddress: string | undefined;
  readonly remoteAddress: string | undefined;
}

export interface ConnectionHandlers {
  /** Hears of every message, the faulty ones too, before anything is made of it. */
  readonly traffic?: ((traffic: Traffic) => void) | undefined;
  /** Where received attributes are looked up by their octets. */
  readonly memory?: AttributeMemory | undefined;
  connected(): void;
  /** To be used before it returns: the routes of an UPDATE lie in memory that is used again. */
  message(message: ReceivedMessage): void;
  /** What was received cannot be read; nothing more is. */
  fault(error: NotificationError): void;
  failed(cause: TcpFailure, detail: string): void;
  /** All messages so far, or all that had to wait, have left for the kernel. */
  sent(): void;
  /** There is room in the socket again. */
  drained(): void;
  /** The socket is gone, closed by either side. */
  gone(): void;
}

/** One TCP connection: frames and messages on it, and the way it ends. */
export class Connection {
  /** The OPEN that was sent on it. */
  localOpen: OpenMessage | undefined;
  readonly #socket: Socket;
  readonly #framer: Framer;
  readonly #handlers: ConnectionHandlers;
  readonly #clock: Clock;
  #context: CodecContext;
  #isClosed = false;
  #isBlocked = false;
  /** Something has not left for the kernel, and `nothing` is written behind it. */
  #isWaiting = false;
  /** Messages wait for the next turn of the event loop. */
  #isResting = false;
  /** How the connection failed while messages that came before still waited. */
  #failure: { readonly cause: TcpFailure; readonly detail: string } | undefined;
  #cancelLinger: () => void = () => undefined;

  constructor(socket: Socket, context: CodecContext, clock: Clock, handlers: ConnectionHandlers) {
    this.#socket = socket;
    this.#context = context;
    this.#clock = clock;
    this.#handlers = handlers;
    this.#framer = new Framer(context.maxReceiveLength);
    socket.setNoDelay(true);
    socket.on('connect', () => {
      if (!this.#isClosed) handlers.connected();
    });
    socket.on('data', (chunk: Uint8Array) => this.#receive(chunk));
    socket.on('drain', () => {
      this.#isBlocked = false;
      if (!this.#isClosed) handlers.drained();
    });
    socket.on('end', () => this.#fail('closed', 'closed by the peer'));
    socket.on('error', (error: Error) => this.#fail(failureOf(error), error.message));
    socket.on('close', () => {
      this.#cancelLinger();
      this.#fail('closed', 'closed');
      handlers.gone();
    });
  }

  /** The socket takes no more for now: routes wait, keepalives do not. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  get localAddress(): string | undefined {
    return endpoint(this.#socket.localAddress, this.#socket.localPort);
  }

  get remoteAddress(): string | undefined {
    return endpoint(this.#socket.remoteAddress, this.#socket.remotePort);
  }

  /** What the OPENs agreed on: it holds for the next message in either direction. */
  negotiated(context: CodecContext): void {
    this.#context = context;
    this.#framer.maxLength = context.maxReceiveLength;
  }

  connect(port: number, address: string): void {
    this.#socket.connect(port, address);
  }

  /** @throws EncodeError */
  send(message: Message): void {
    if (this.#isClosed) return;
    this.#write(message.type === 'KEEPALIVE' ? keepaliveOctets : encodeMessage(message, this.#context));
  }

  /** Sends whole messages that were encoded elsewhere, for this context. The octets are not changed afterwards. */
  sendEncoded(bytes: Uint8Array): void {
    if (!this.#isClosed) this.#write(bytes);
  }

  /** Writes what was collected in one go. */
  batch(write: () => void): void {
    this.#socket.cork();
    try {
      write();
    } finally {
      this.#socket.uncork();
    }
    this.#noteSent();
  }

  #observe(isSent: boolean, bytes: Uint8Array): void {
    const { traffic } = this.#handlers;
    if (traffic === undefined) return;
    const { localAddress, remoteAddress } = this;
    traffic({ isSent, bytes, context: this.#context, localAddress, remoteAddress });
  }

  #write(bytes: Uint8Array): void {
    this.#observe(true, bytes);
    this.#isBlocked = !this.#socket.write(bytes);
    if (this.#socket.writableCorked === 0) this.#noteSent();
  }

  /**
   * The kernel mostly takes a message at once. To be called back for each one would cost more than the message: only for
   * those that wait the socket is asked to tell.
   */
  #noteSent(): void {
    if (this.#socket.writableLength === 0) {
      this.#handlers.sent();
      return;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#socket.write(nothing, (error) => {
      this.#isWaiting = false;
      if (error !== undefined && error !== null) return;
      this.#handlers.sent();
      if (this.#socket.writableLength > 0) this.#noteSent();
    });
  }

  notify(notification: NotificationContent): void {
    this.send({ type: 'NOTIFICATION', ...notification });
  }

  /** Closes after everything written has left, or after two seconds. The peer's data is read and dropped meanwhile: unread, it would make the kernel send RST and the NOTIFICATION could be lost. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#socket.connecting || this.#socket.destroyed) {
      this.#socket.destroy();
      return;
    }
    this.#socket.resume();
    this.#socket.end();
    this.#cancelLinger = this.#clock.after(LINGER, () => this.#socket.destroy());
  }

  #receive(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    this.#framer.push(chunk);
    if (!this.#isResting) this.#read();
  }

  /** Hands over the messages that are there, for a slice of time. */
  #read(): void {
    const end = this.#clock.now() + READ_SLICE;
    try {
      for (;;) {
        const frame = this.#framer.next();
        if (frame === undefined) return;
        this.#observe(false, frame.bytes);
        this.#handlers.message(readMessage(frame, this.#context, this.#handlers.memory));
        if (this.#isClosed) return;
        if (this.#clock.now() >= end) {
          this.#rest();
          return;
        }
      }
    } catch (error) {
      if (!(error instanceof NotificationError)) throw error;
      this.#handlers.fault(error);
    }
  }

  /**
   * Leaves the rest for later: other sockets and timers have their turn first. Meanwhile nothing more is read, so that a
   * peer that sends faster than we follow is slowed by TCP, and neither starves other sessions nor fills our memory.
   */
  #rest(): void {
    this.#isResting = true;
    this.#socket.pause();
    setImmediate(() => {
      this.#isResting = false;
      if (this.#isClosed) return;
      this.#read();
      if (this.#isResting) return;
      if (this.#failure === undefined) this.#socket.resume();
      else this.#fail(this.#failure.cause, this.#failure.detail);
    });
  }

  #fail(cause: TcpFailure, detail: string): void {
    if (this.#isClosed) return;
    if (this.#isResting) this.#failure ??= { cause, detail };
    else this.#handlers.failed(cause, detail);
  }
}

function endpoint(address: string | undefined, port: number | undefined): string | undefined {
  if (address === undefined || port === undefined) return undefined;
  return endpointText(address, port);
}

const causes: Readonly<Record<string, TcpFailure>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ETIMEDOUT: 'timeout',
  EHOSTUNREACH: 'timeout',
  EHOSTDOWN: 'timeout',
  ENETUNREACH: 'timeout',
  ENETDOWN: 'timeout',
};

/** What a socket's error says about the other side: a dead process answers with RST, a dead host not at all. */
export function failureOf(error: Error): TcpFailure {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return causes[code] ?? 'failed';
}
