import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Clock } from '@bgp-lb/protocol/node';

/** Between two attempts to open it (ms). */
const RETRY = 50;
/** keepalived closes it for a moment when it takes another configuration: only after so long without it counts as ended (ms). */
const GONE = 150;
/** So long after it was opened all that waited in it has been read (ms). What was written before may have been read by another life of ours. */
const QUIET = 100;
/** A line is some 30 octets: what is longer is no notification. */
const LONGEST = 4096;
/** What a pipe holds (pipe(7)). */
const PIPE_SIZE = 65_536;
/** With less room than that the last lines may not have found any: keepalived does not wait for a reader. */
const ROOM = 4096;

export interface NotifyFifoHandlers {
  /** One line. */
  line(line: string): void;
  /** keepalived has it open, and all lines that waited were given: a state that none of them told is to be looked for elsewhere. */
  quiet(): void;
  /** keepalived has it open no more. */
  ended(): void;
}

/** Reads the FIFO into which keepalived writes each change of state, again whenever it is made again. */
export class NotifyFifo {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #handlers: NotifyFifoHandlers;
  #socket: Socket | undefined;
  #rest = '';
  /** It was open, and its end was not told yet. */
  #isLive = false;
  #endedAt = 0;
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(path: string, clock: Clock, handlers: NotifyFifoHandlers) {
    this.#path = path;
    this.#clock = clock;
    this.#handlers = handlers;
  }

  /** keepalived has it open, as far as is known. */
  get isLive(): boolean {
    return this.#isLive;
  }

  start(): void {
    this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#socket?.destroy();
  }

  #open(): void {
    if (this.#isClosed) return;
    const opened = openFifo(this.#path);
    if (opened === undefined) {
      this.#missed();
      return;
    }
    const { fd, text: first } = opened;
    const socket = new Socket({ fd, readable: true, writable: false });
    this.#socket = socket;
    this.#rest = '';
    const wasLive = this.#isLive;
    this.#cancel = this.#clock.after(QUIET, () => {
      this.#isLive = true;
      this.#endedAt = 0;
      if (!wasLive) this.#handlers.quiet();
    });
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => this.#take(text));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.#cancel();
      if (this.#socket === socket) this.#missed();
    });
    socket.once('end', () => socket.destroy());
    if (first !== '') this.#take(first);
  }

  #take(text: string): void {
    if (this.#isClosed) return;
    this.#isLive = true;
    this.#endedAt = 0;
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, LONGEST);
    for (const line of lines) this.#handlers.line(line);
  }

  /** There is no writer at the moment. */
  #missed(): void {
    if (this.#isClosed) return;
    this.#socket = undefined;
    const now = this.#clock.now();
    if (this.#endedAt === 0) this.#endedAt = now;
    if (this.#isLive && now - this.#endedAt >= GONE) {
      this.#isLive = false;
      this.#handlers.ended();
    }
    this.#cancel = this.#clock.after(RETRY, () => this.#open());
  }
}

/**
 * Without waiting for a writer; undefined where there is none. One that was opened without is not told of any end: epoll(7) says nothing
 * of it, and only read(2) does.
 */
function openFifo(path: string): { readonly fd: number; readonly text: string } | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const buffer = Buffer.alloc(PIPE_SIZE);
    const length = fstatSync(fd).isFIFO() ? readSync(fd, buffer) : 0;
    // Full: what is in it is old, and what is newer was lost.
    if (length > PIPE_SIZE - ROOM) return { fd, text: '' };
    if (length > 0) return { fd, text: buffer.toString('latin1', 0, length) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return { fd, text: '' };
  }
  closeSync(fd);
  return undefined;
}
