/** One long-lived connection that exchanges data with its server all the time and notices when that stops. */
import type { TLSSocket } from 'node:tls';
import type { OpenArguments } from '../client-protocol.ts';
import { failureName } from './tally.ts';
import { connectVerified, masterOf } from './verified-tls.ts';

/** What is sent, and how many whole answers a text received so far holds. */
interface Exchange {
  readonly greeting: string;
  readonly ask: string;
  /** Takes whole answers off the text: gives their number and the rest. */
  take(text: string): { answers: number; rest: string };
}

const streamRequest =
  'GET /stream HTTP/1.1\r\nHost: kubernetes\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n';

const exchanges: Readonly<Record<OpenArguments['exchange'], Exchange>> = {
  lines: {
    greeting: streamRequest,
    ask: 'ping\n',
    take(text) {
      // The head of the 101 answer counts for nothing, nor do its lines.
      const body = text.startsWith('HTTP/') ? afterHead(text) : text;
      if (body === undefined) return { answers: 0, rest: text };
      const parts = body.split('\n');
      return { answers: parts.length - 1, rest: parts.at(-1) ?? '' };
    },
  },
  requests: {
    greeting: '',
    ask: 'GET /version HTTP/1.1\r\nHost: kubernetes\r\n\r\n',
    take(text) {
      let rest = text;
      let answers = 0;
      for (;;) {
        const body = afterHead(rest);
        const length = Number(/^content-length: *(\d+)/im.exec(rest)?.[1] ?? 0);
        if (body === undefined || body.length < length) return { answers, rest };
        answers += 1;
        rest = body.slice(length);
      }
    },
  },
};

function afterHead(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  return end === -1 ? undefined : text.slice(end + 4);
}

/** A connection from its first SYN to its end. */
export class LongConnection {
  readonly #socket: TLSSocket;
  readonly #exchange: Exchange;
  readonly #waiting = new Set<() => void>();
  #master: string | undefined;
  #brokenBy: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFinished = false;
  #received = '';
  #asked = 0;
  #answered = 0;

  /** Starts to connect. Await `established`. */
  constructor({ target, exchange, exchangeEvery }: OpenArguments) {
    this.#exchange = exchanges[exchange];
    this.#socket = connectVerified(target);
    this.#socket.setNoDelay(true);
    this.#socket.setEncoding('latin1');
    this.#socket.on('error', (error) => this.#break(failureName(error)));
    this.#socket.on('end', () => this.#break('closed by the server'));
    this.#socket.on('close', () => this.#break('closed'));
    this.#socket.on('data', (text: string) => this.#receive(text));
    this.#socket.once('secureConnect', () => {
      this.#master = masterOf(this.#socket);
      this.#socket.write(this.#exchange.greeting);
      this.#ask();
      // A phase of its own, so that the connections do not all speak at once.
      this.#timer = setTimeout(() => {
        this.#timer = setInterval(() => this.#ask(), exchangeEvery);
      }, Math.random() * exchangeEvery);
    });
  }

  /** The master that serves it; undefined until TLS is up. */
  get master(): string | undefined {
    return this.#master;
  }

  /** Why it is broken; undefined while it is not. */
  get brokenBy(): string | undefined {
    return this.#brokenBy;
  }

  /** True when its lifetime was over before anything else ended it. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** It ends by itself after so many milliseconds. */
  finishAfter(lifetime: number): void {
    setTimeout(() => {
      this.#isFinished = this.#brokenBy === undefined;
      this.close();
    }, lifetime);
  }

  /** True when the first answer has come within the time; a connection without one is closed. */
  async established(timeoutMs: number): Promise<boolean> {
    const isUp = await this.#answeredUpTo(1, timeoutMs);
    if (!isUp) this.#break('timeout');
    return isUp;
  }

  /** Asks once more and tells whether that very question was answered in time. */
  async check(timeoutMs: number): Promise<boolean> {
    if (this.#brokenBy !== undefined) return false;
    this.#ask();
    return this.#answeredUpTo(this.#asked, timeoutMs);
  }

  /** Closes it; it does not count as broken by another cause then. */
  close(): void {
    this.#break('closed by the client');
  }

  #ask(): void {
    if (this.#brokenBy !== undefined) return;
    this.#asked += 1;
    this.#socket.write(this.#exchange.ask);
  }

  #receive(text: string): void {
    const { answers, rest } = this.#exchange.take(this.#received + text);
    this.#received = rest;
    if (answers === 0) return;
    this.#answered += answers;
    this.#wake();
  }

  #break(reason: string): void {
    if (this.#brokenBy !== undefined) return;
    this.#brokenBy = reason;
    clearTimeout(this.#timer);
    this.#socket.destroy();
    this.#wake();
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #answeredUpTo(count: number, timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (isAnswered: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(isAnswered);
      };
      const look = (): void => {
        if (this.#brokenBy !== undefined) finish(false);
        else if (this.#answered >= count) finish(true);
      };
      const timer = setTimeout(() => finish(false), timeoutMs);
      this.#waiting.add(look);
      look();
    });
  }
}
