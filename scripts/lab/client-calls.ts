/** The calling side of the client program's JSON lines, whatever pipes lead to the program. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { ClientCall, ClientCommandName, ClientCommands, ClientReply } from './client-protocol.ts';

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** One run of the client program. */
export class ClientCalls {
  readonly #input: Writable;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;

  /** `input` and `output` are the program's standard input and output. */
  constructor(input: Writable, output: Readable) {
    this.#input = input;
    input.on('error', () => undefined); // the program's end is told by `ended`
    createInterface({ input: output }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as ClientReply;
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(`client: ${error}`));
    });
  }

  /** Calls a command and resolves with its result. */
  call<N extends ClientCommandName>(
    command: N,
    options: ClientCommands[N]['arguments'],
  ): Promise<ClientCommands[N]['result']> {
    this.#lastId += 1;
    const call: ClientCall = { id: this.#lastId, command, arguments: options };
    return new Promise<ClientCommands[N]['result']>((resolve, reject) => {
      this.#pending.set(call.id, {
        // The program's results are typed by the same table.
        resolve: (result) => resolve(result as ClientCommands[N]['result']),
        reject,
      });
      this.#input.write(`${JSON.stringify(call)}\n`);
    });
  }

  /** Asks the program to end. */
  end(): void {
    this.#input.end();
  }

  /** To be called when the program has ended: what is not answered fails. */
  ended(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
