import type { ServerResponse } from 'node:http';
import type { ControlStream } from './control-route.ts';
import { writeBounded } from './write-bounded.ts';

/** Octets that may wait for one client; one that reads more slowly is cut off. */
const MAX_STREAM_BUFFER = 1024 * 1024;

/** Answers without an end, to a bounded number of clients. */
export class ByteStreams {
  readonly #limit: number;
  readonly #onCut: () => void;
  readonly #open = new Set<ServerResponse>();

  constructor(options: { readonly limit: number; readonly onCut: () => void }) {
    this.#limit = options.limit;
    this.#onCut = options.onCut;
  }

  get size(): number {
    return this.#open.size;
  }

  get isFull(): boolean {
    return this.#open.size >= this.#limit;
  }

  /** Serves until the client leaves, reads too slowly, or `close`. */
  serve(response: ServerResponse, { contentType, start }: ControlStream): void {
    this.#open.add(response);
    response.writeHead(200, {
      'Content-Type': contentType,
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
    });
    response.flushHeaders();
    // Nothing may come for hours.
    response.socket?.setTimeout(0);
    const end = start((bytes) => this.#write(response, bytes));
    response.once('close', () => {
      end();
      this.#open.delete(response);
    });
  }

  #write(response: ServerResponse, bytes: Uint8Array): void {
    writeBounded(response, bytes, MAX_STREAM_BUFFER, this.#onCut);
  }

  /** Ends all of them. */
  close(): void {
    for (const response of this.#open) response.end();
  }
}
