/** The client machine: long connections and new requests to the VIP, counted by what became of them. */
import { vipOf } from './addresses.ts';
import { ClientCalls } from './client-calls.ts';
import type {
  CheckResult,
  ClientCommandName,
  ClientCommands,
  ClientTarget,
  LoopArguments,
  LoopReport,
  OpenArguments,
  OpenResult,
  RequestResult,
} from './client-protocol.ts';
import { Host, type HostPlan } from './host.ts';
import type { HostProcess } from './host-process.ts';
import type { Switch } from './switch.ts';

const program = new URL('./client/main.ts', import.meta.url).pathname;

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
  #process: HostProcess | undefined;
  #calls: ClientCalls | undefined;

  constructor(plan: HostPlan, labSwitch: Switch, defaults: ClientDefaults) {
    super(plan, labSwitch);
    this.#defaults = defaults;
  }

  /** Opens `count` long connections to the VIP, each exchanging data every `exchangeEvery` (default one second). */
  open(
    count: number,
    options: Partial<Omit<OpenArguments, 'count' | 'target'>> & TargetOptions = {},
  ): Promise<OpenResult> {
    const { exchangeEvery = 1_000, connectTimeout = 5_000, exchange, lifetime, ...target } = options;
    return this.#call('open', {
      count,
      exchangeEvery,
      connectTimeout,
      exchange: exchange ?? this.#defaults.exchange,
      ...(lifetime === undefined ? {} : { lifetime }),
      target: this.#target(target),
    });
  }

  /** Which of the long connections still carry data; one that does not answer within `timeout` counts as broken. */
  check(timeout = 6_000): Promise<CheckResult> {
    return this.#call('check', { timeout });
  }

  /** One request on a new connection. Never rejects for what the network does. */
  request(options: { path?: string; timeout?: number } & TargetOptions = {}): Promise<RequestResult> {
    const { path = '/version', timeout = 2_000, ...target } = options;
    return this.#call('request', { path, timeout, target: this.#target(target) });
  }

  /** Sends a new request every `every` until stopLoop, on new connections unless told otherwise. */
  async startLoop(
    options: Pick<LoopArguments, 'every'> & Partial<Omit<LoopArguments, 'target'>> & TargetOptions,
  ): Promise<void> {
    const { every, path = '/version', timeout = 2_000, connections = ['new'], ...target } = options;
    await this.#call('startLoop', { every, path, timeout, connections, target: this.#target(target) });
  }

  /** Starts the counts of the loop's report again. */
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
    this.#calls?.end();
    await this.#process?.exited;
  }

  #target(options: TargetOptions): ClientTarget {
    const { port, caFile } = this.#defaults;
    return { host: vipOf(this.family), port, caFile, ...options };
  }

  #call<N extends ClientCommandName>(
    command: N,
    options: ClientCommands[N]['arguments'],
  ): Promise<ClientCommands[N]['result']> {
    return this.#running().call(command, options);
  }

  #running(): ClientCalls {
    if (this.#process?.isRunning && this.#calls !== undefined) return this.#calls;
    const client = this.spawn('client', [process.execPath, program], { hasPipes: true });
    const calls = new ClientCalls(client.pipes.input, client.pipes.output);
    this.#process = client;
    this.#calls = calls;
    void client.exited.then((exit) => {
      calls.ended(new Error(`the client ended with ${JSON.stringify(exit)}\n${client.tail()}`));
    });
    return calls;
  }
}
