import { createConnection, type Socket } from 'node:net';

/** Opens a connection to a loopback port or a Unix socket and keeps what it receives. */
export class RawClient {
  readonly socket: Socket;
  received = '';
  isClosed = false;

  constructor(target: number | string) {
    this.socket =
      typeof target === 'number' ? createConnection(target, '127.0.0.1') : createConnection(target);
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text) => {
      this.received += String(text);
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.isClosed = true;
    });
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }

  /** Resolves with everything received once the other side closed. */
  closed(): Promise<string> {
    if (this.isClosed) return Promise.resolve(this.received);
    return new Promise((resolve) => this.socket.once('close', () => resolve(this.received)));
  }

  /** Resolves once what was received contains a text; rejects when the connection closes before. */
  until(text: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!this.received.includes(text)) return;
        this.socket.off('data', look);
        resolve(this.received);
      };
      this.socket.on('data', look);
      this.socket.once('close', () => reject(new Error(`closed after: ${this.received}`)));
      look();
    });
  }
}

/** One request as text, and the whole answer. */
export function exchange(target: number | string, request: string): Promise<string> {
  return new RawClient(target).send(request).closed();
}

/** A GET that closes the connection after its answer. */
export function get(path: string, headers: readonly string[] = ['Host: localhost']): string {
  return `GET ${path} HTTP/1.1\r\n${headers.map((header) => `${header}\r\n`).join('')}Connection: close\r\n\r\n`;
}
