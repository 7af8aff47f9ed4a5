/** The client machine: long connections and new requests to the VIP, counted by what became of them. */
import { createInterface } from 'node:readline';
import { vipAddress } from './addresses.ts';
import type {
  CheckResult,
  ClientCall,
  ClientCommandName,
  ClientCommands,
  ClientReply,
  ClientTarget,
  LoopReport,
  OpenArguments,
  OpenResult,
  RequestResult,
} from './client-protocol.ts';
import { Host, type HostPlan } from './host.ts';
import type { HostProcess } from './host-process.ts';
import type { Switch } from './switch.ts';

const program = new URL('./client/main.ts', import.meta.url).pathname;

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Whom the client asks, where that is not the VIP. */
export type TargetOptions = Partial<ClientTarget>;

/** What the client does unless told otherwise. */
export interface ClientDefaults {
  /** The VIP's port. */
  readonly port: number;
  /** What it verifies servers by; it need not exist yet. */
  readonly caFile: string;
  /** What long connections exchange: `requests` where a real kube-apiserver serves. */
  readonly exchange: OpenArguments['exchange'];
}

/** The client. All times in milliseconds. */
export class ClientHost extends Host {
  readonly #defaults: ClientDefaults;
  readonly #pending = new Map<number, PendingCall>();
  #process: HostProcess | undefined;
  #lastId = 0;

  constructor(plan: HostPlan, labSwitch: Switch, defaults: ClientDefaults) {
    super(plan, labSwitch);
    this.#defaults = defaults;
  }

  /** Opens `count` long connections to the VIP, each exchanging data every `exchangeEvery` (default one second). */
  open(
    count: number,
    options: Partial<Omit<OpenArguments, 'count' | 'target'>> & TargetOptions = {},
  ): Promise<OpenResult> {
    const { exchangeEvery = 1_000, connectTimeout = 5_000, exchange, ...target } = options;
    return this.#call('open', {
      count,
      exchangeEvery,
      connectTimeout,
      exchange: exchange ?? this.#defaults.exchange,
      target: this.#target(target),
    });
  }

  /** Which of the long connections still carry data; one that does not answer within `timeout` counts as broken. */
  check(timeout = 2_000): Promise<CheckResult> {
    return this.#call('check', { timeout });
  }

  /** One request on a new connection. Never rejects for what the network does. */
  request(options: { path?: string; timeout?: number } & TargetOptions = {}): Promise<RequestResult> {
    const { path = '/version', timeout = 2_000, ...target } = options;
    return this.#call('request', { path, timeout, target: this.#target(target) });
  }

  /** Sends a new request every `every` until stopLoop. */
  async startLoop(
    options: { every: number; path?: string; timeout?: number } & TargetOptions,
  ): Promise<void> {
    const { every, path = '/version', timeout = 2_000, ...target } = options;
    await this.#call('startLoop', { every, path, timeout, target: this.#target(target) });
  }

  /** Starts the counts of the loop's report anew. */
  async markLoop(): Promise<void> {
    await this.#call('markLoop', {});
  }

  loopReport(): Promise<LoopReport> {
    return this.#call('loopReport', {});
  }

  stopLoop(): Promise<LoopReport> {
    return this.#call('stopLoop', {});
  }

  /** Closes and forgets all long connections. */
  async closeAll(): Promise<void> {
    await this.#call('closeAll', {});
  }

  /** Ends the client program and with it all its connections. */
  async stop(): Promise<void> {
    this.#process?.pipes.input.end();
    await this.#process?.exited;
  }

  #target(options: TargetOptions): ClientTarget {
    const { port, caFile } = this.#defaults;
    return { host: vipAddress, port, caFile, ...options };
  }

  #call<N extends ClientCommandName>(
    command: N,
    options: ClientCommands[N]['arguments'],
  ): Promise<ClientCommands[N]['result']> {
    const client = this.#running();
    this.#lastId += 1;
    const call: ClientCall = { id: this.#lastId, command, arguments: options };
    return new Promise<ClientCommands[N]['result']>((resolve, reject) => {
      this.#pending.set(call.id, {
        // The program's results are typed by the same table.
        resolve: (result) => resolve(result as ClientCommands[N]['result']),
        reject,
      });
      client.pipes.input.write(`${JSON.stringify(call)}\n`);
    });
  }

  #running(): HostProcess {
    if (this.#process?.isRunning) return this.#process;
    const client = this.spawn('client', [process.execPath, program], { hasPipes: true });
    this.#process = client;
    client.pipes.input.on('error', () => undefined); // its end is reported below
    createInterface({ input: client.pipes.output }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as ClientReply;
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new Error(`client: ${error}`));
    });
    void client.exited.then((exit) => {
      const error = new Error(`the client ended with ${JSON.stringify(exit)}\n${client.tail()}`);
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    });
    return client;
  }
}
