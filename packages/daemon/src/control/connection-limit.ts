import type { Socket } from 'node:net';

/**
 * Keeps a listener from being held by clients that are slow or say nothing. When it has as many connections as it may have, a new one
 * takes the place of that which has been idle for longest, or, where none is idle, of the answer that has been under way for longest.
 * Streams keep their place: there are fewer of them than connections. A probe of the kubelet, which asks at once and is answered
 * within milliseconds, therefore always gets in.
 */
export class ConnectionLimit {
  readonly #limit: number;
  /** Connections without a request under way, the one that has been so for longest first. */
  readonly #idle = new Set<Socket>();
  /** Connections that a request has come on whose answer is not read yet, the oldest first. */
  readonly #busy = new Set<Socket>();
  /** Connections of streams, which end by their own rules. */
  readonly #streams = new Set<Socket>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A new connection, which another one may have to make room for. */
  add(socket: Socket): void {
    if (this.#idle.size + this.#busy.size + this.#streams.size >= this.#limit) this.#evict();
    this.#idle.add(socket);
    socket.once('close', () => this.#forget(socket));
  }

  /** A request has come. */
  answering(socket: Socket): void {
    this.#move(socket, this.#busy);
  }

  /** The answer is a stream. */
  streaming(socket: Socket): void {
    this.#move(socket, this.#streams);
  }

  /** The answer has been sent. */
  answered(socket: Socket): void {
    this.#move(socket, this.#idle);
  }

  #move(socket: Socket, to: Set<Socket>): void {
    this.#forget(socket);
    if (!socket.destroyed) to.add(socket);
  }

  #forget(socket: Socket): void {
    for (const set of [this.#idle, this.#busy, this.#streams]) set.delete(socket);
  }

  #evict(): void {
    const [oldest] = this.#idle.size > 0 ? this.#idle : this.#busy;
    if (oldest === undefined) return;
    this.#forget(oldest);
    oldest.destroy();
  }
}
