import { Socket } from 'node:net';
import type { ListeningSocket, SocketOptions, Sockets } from '../sockets.ts';

/** One end of a connection in memory. A writer waits for its reader, as TCP does when the window is closed. */
export class MemorySocket extends Socket {
  #peer: MemorySocket | undefined;
  #isCut = false;
  #readerReady: (() => void) | undefined;
  #rewrite: (bytes: Uint8Array) => Uint8Array = (bytes) => Uint8Array.from(bytes);
  readonly #dial: ((socket: MemorySocket, port: number, address: string) => void) | undefined;

  constructor(dial?: (socket: MemorySocket, port: number, address: string) => void) {
    super();
    this.#dial = dial;
  }

  override connect(target: unknown, address?: unknown): this {
    if (typeof target !== 'number' || typeof address !== 'string')
      throw new TypeError('port and address expected');
    Object.defineProperty(this, 'connecting', { value: true, configurable: true });
    setImmediate(() => {
      if (!this.destroyed) this.#dial?.(this, target, address);
    });
    return this;
  }

  /** Both ends are one connection from now on. */
  static join(
    dialler: MemorySocket,
    accepted: MemorySocket,
    addresses: { from: string; to: string; port: number },
    rewrite: (bytes: Uint8Array) => Uint8Array = (bytes) => Uint8Array.from(bytes),
  ): void {
    dialler.#rewrite = rewrite;
    accepted.#rewrite = rewrite;
    dialler.#peer = accepted;
    accepted.#peer = dialler;
    name(dialler, addresses.from, 40000, addresses.to, addresses.port);
    name(accepted, addresses.to, addresses.port, addresses.from, 40000);
    for (const end of [dialler, accepted]) {
      Object.defineProperty(end, 'connecting', { value: false, configurable: true });
    }
  }

  /** The process at this end dies: the other end sees a RST. */
  kill(): void {
    const peer = this.#peer;
    this.#isCut = true;
    this.destroy();
    peer?.destroy(errno('ECONNRESET'));
  }

  /** Nothing arrives any more in either direction, and neither end is told. */
  cut(): void {
    this.#isCut = true;
    if (this.#peer !== undefined) this.#peer.#isCut = true;
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    if (this.#isCut || peer === undefined || peer.destroyed) {
      done();
      return;
    }
    if (peer.push(this.#rewrite(chunk))) done();
    else peer.#readerReady = done;
  }

  override _writev(
    chunks: { chunk: Uint8Array; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done);
  }

  override _read(): void {
    const ready = this.#readerReady;
    this.#readerReady = undefined;
    ready?.();
  }

  override _final(done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    if (!this.#isCut && peer !== undefined && !peer.destroyed) peer.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const peer = this.#peer;
    // The kernel of a process that goes away closes its sockets: FIN.
    if (!this.#isCut && error === null && peer !== undefined && !peer.destroyed && !peer.readableEnded) {
      peer.push(null);
    }
    super._destroy(error, done);
  }
}

function name(
  socket: Socket,
  localAddress: string,
  localPort: number,
  remoteAddress: string,
  remotePort: number,
): void {
  for (const [key, value] of Object.entries({ localAddress, localPort, remoteAddress, remotePort })) {
    Object.defineProperty(socket, key, { value });
  }
}

function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Hosts that reach each other in memory. */
export class MemoryNetwork {
  readonly #listeners = new Map<string, (socket: MemorySocket) => void>();
  /** Every connection so far, the dialler first. */
  readonly connections: {
    readonly from: string;
    readonly dialler: MemorySocket;
    readonly accepted: MemorySocket;
  }[] = [];
  /** Attempts to connect, also those that failed, by the dialler's address. */
  readonly attempts: { readonly from: string; readonly to: string }[] = [];
  /** Addresses that answer nothing at all. */
  readonly dead: Set<string> = new Set();
  /** What arrives of what was written at once; of connections made from now on. */
  rewrite: (bytes: Uint8Array) => Uint8Array = (bytes) => Uint8Array.from(bytes);

  /** The sockets of one host. */
  host(address: string): Sockets {
    return {
      open: (_remote: string, _options: SocketOptions) =>
        new MemorySocket((socket, port, to) => this.#dial(address, socket, port, to)),
      accepted: () => undefined,
      listen: async ({ port }, onConnection): Promise<ListeningSocket> => {
        const key = `${address} ${port}`;
        this.#listeners.set(key, onConnection);
        return {
          address,
          port,
          setPassword: () => undefined,
          close: async () => {
            this.#listeners.delete(key);
          },
        };
      },
    };
  }

  #dial(from: string, socket: MemorySocket, port: number, to: string): void {
    this.attempts.push({ from, to });
    if (this.dead.has(to) || this.dead.has(from)) return;
    const listener = this.#listeners.get(`${to} ${port}`);
    if (listener === undefined) {
      socket.destroy(errno('ECONNREFUSED'));
      return;
    }
    const accepted = new MemorySocket();
    MemorySocket.join(socket, accepted, { from, to, port }, this.rewrite);
    this.connections.push({ from, dialler: socket, accepted });
    socket.emit('connect');
    listener(accepted);
  }
}
