import { write, writeSync } from 'node:fs';

/**
 * Unwritten log text above this (in UTF-16 code units) is dropped. The alternative would be to wait for the reader of the log, and
 * a stuck journal must not delay a BFD packet.
 */
const MAX_WAITING = 1024 * 1024;

const MAX_CHUNK = 64 * 1024;

const RETRY_MS = 20;

/**
 * Log lines to a file descriptor, in order, by asynchronous writes, of which one is under way at a time. Nothing that can happen to
 * the reader ends or holds up the process: a full disk, a closed pipe or a reader that sleeps cost lines, and a line tells how many.
 * (pino's own destination waits for a full disk without end when the process exits.)
 */
export class LogStream {
  readonly #descriptor: number;
  readonly #flushed: (() => void)[] = [];
  #lines: string[] = [];
  #waiting = 0;
  #dropped = 0;
  #isWriting = false;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Takes a line with its line end. */
  write(line: string): void {
    if (this.#waiting + line.length > MAX_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#waiting += line.length;
    if (!this.#isWriting) this.#next();
  }

  /** Calls back once everything that was taken is written or given up. */
  flush(callback: () => void): void {
    if (this.#isWriting) this.#flushed.push(callback);
    else callback();
  }

  /** One attempt to write what waits, for the end of the process, when nothing asynchronous happens any more. */
  writeRest(): void {
    const rest = this.#take(Number.POSITIVE_INFINITY);
    if (rest === '') return;
    try {
      writeSync(this.#descriptor, rest);
    } catch {
      // There is nothing left to report to.
    }
  }

  #next(): void {
    const chunk = this.#take(MAX_CHUNK);
    this.#isWriting = chunk !== '';
    if (this.#isWriting) this.#put(Buffer.from(chunk));
    else for (const callback of this.#flushed.splice(0)) callback();
  }

  #put(bytes: Buffer): void {
    write(this.#descriptor, bytes, 0, bytes.length, null, (error, written) => {
      if (error?.code === 'EAGAIN' || error?.code === 'EBUSY') {
        setTimeout(() => this.#put(bytes), RETRY_MS).unref();
        return;
      }
      if (error === null && written < bytes.length) {
        this.#put(bytes.subarray(written));
        return;
      }
      if (error !== null) this.#dropped += bytes.toString('latin1').split('\n').length - 1;
      this.#next();
    });
  }

  /** Takes whole lines up to a size, at least one, and says first how many were lost. */
  #take(size: number): string {
    let chunk = '';
    if (this.#lines.length > 0 && this.#dropped > 0) {
      const told = {
        level: 'warn',
        time: new Date().toISOString(),
        dropped: this.#dropped,
        msg: 'log lines were lost',
      };
      chunk = `${JSON.stringify(told)}\n`;
      this.#dropped = 0;
    }
    let count = 0;
    for (const line of this.#lines) {
      if (count > 0 && chunk.length + line.length > size) break;
      chunk += line;
      this.#waiting -= line.length;
      count += 1;
    }
    this.#lines = this.#lines.slice(count);
    return chunk;
  }
}
