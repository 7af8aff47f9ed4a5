import { connect } from 'node:net';

/** Longer answers are none of ours: 64 VIPs with 128 members each have some 3 MiB, 8000 sessions as much. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** HAProxy answers within microseconds, unless it is stopped or overloaded (ms). */
const TIME_LIMIT = 2000;

/** The run-time API gave no answer, or not the one that was expected. */
export class RunTimeError extends Error {
  override readonly name = 'RunTimeError';
  /** `absent`: no HAProxy listens there. `silent`: it did not answer in time. `refused`: it answered otherwise. */
  readonly reason: 'absent' | 'silent' | 'refused';

  constructor(reason: RunTimeError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Sends commands to HAProxy over a unix socket, each on a connection of its own, which HAProxy closes behind its answer. */
export class RunTimeClient {
  readonly #path: string;
  readonly #timeLimit: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param timeLimit ms that one answer may take */
  constructor(path: string, timeLimit: number = TIME_LIMIT) {
    this.#path = path;
    this.#timeLimit = timeLimit;
  }

  /**
   * Sends one command; calls run one after another, in the order they were made.
   * @returns the answer without empty lines around it
   * @throws RunTimeError
   */
  ask(command: string): Promise<string> {
    return this.askAll([command]);
  }

  /** Sends several commands at once, which HAProxy does in their order. Less than 16 KiB in all (tune.bufsize). @throws RunTimeError */
  askAll(commands: readonly string[]): Promise<string> {
    for (const command of commands) {
      // A line break would be a second command, and `;` is one.
      if (/[\n\r;]/.test(command)) throw new RangeError(`not one command: ${JSON.stringify(command)}`);
    }
    const answer = this.#last.then(() => this.#exchange(commands.join(';')));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** Sends a command that is answered by one of these texts; none: by any. @throws RunTimeError for any other answer */
  async order(command: string, expected: readonly string[]): Promise<void> {
    const answer = await this.ask(command);
    if (expected.length > 0 && !expected.includes(answer)) {
      const text = answer.split('\n', 1)[0]?.slice(0, 200) ?? '';
      throw new RunTimeError('refused', `HAProxy answers "${text}" to "${command.slice(0, 200)}"`);
    }
  }

  #exchange(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const socket = connect({ path: this.#path, allowHalfOpen: true });
      let expiry: NodeJS.Immediate | undefined;
      const end = (): void => {
        clearTimeout(timer);
        clearImmediate(expiry);
        socket.destroy();
      };
      const fail = (reason: RunTimeError['reason'], text: string): void => {
        end();
        reject(new RunTimeError(reason, `HAProxy at ${this.#path}: ${text}`));
      };
      // After a stall of ours the answer may be there and not read yet: timers come before that in a turn, and its end is read a turn later.
      const expire = (read: number): void => {
        expiry = setImmediate(() => {
          if (size > read) expire(size);
          else fail('silent', `no answer within ${this.#timeLimit} ms to "${command.slice(0, 200)}"`);
        });
      };
      const timer = setTimeout(() => expire(size), this.#timeLimit);
      socket.on('error', (error: NodeJS.ErrnoException) => {
        const isAbsent = error.code === 'ENOENT' || error.code === 'ECONNREFUSED';
        fail(isAbsent ? 'absent' : 'silent', isAbsent ? 'nothing listens there' : error.message);
      });
      socket.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_ANSWER) fail('refused', `an answer of more than ${MAX_ANSWER} octets`);
        else chunks.push(chunk);
      });
      socket.on('end', () => {
        end();
        resolve(Buffer.concat(chunks).toString('utf8').trim());
      });
      // The master closes its end only after ours.
      socket.end(`${command}\n`);
    });
  }
}
