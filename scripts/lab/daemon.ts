/** One of our daemons on a lab host: its configuration file, its process, its control socket. */
import { existsSync, writeFileSync } from 'node:fs';
import type { Host } from './host.ts';
import { type HostProcess, lessOurVariables, type ProcessExit } from './host-process.ts';
import { inNamespace } from './network-namespace.ts';
import type { JsonObject } from './object-store.ts';
import { type CommandResult, tryCommand } from './run-command.ts';
import { UnixHttpError, unixRequest } from './unix-http.ts';
import { waitUntil } from './wait-until.ts';

/** Which daemon, and where its files are on the host. */
export interface DaemonOptions {
  /** `router` or `speaker`: names the log, the socket and the configuration file. */
  readonly name: string;
  /** The bundle. */
  readonly program: string;
}

/** A daemon. `Status` is the shape of its `/api/v1/status`. */
export class Daemon<Status> {
  readonly #host: Host;
  readonly #options: DaemonOptions;
  #process: HostProcess | undefined;

  constructor(host: Host, options: DaemonOptions) {
    this.#host = host;
    this.#options = options;
  }

  get configFile(): string {
    return this.#host.path(`etc/${this.#options.name}.yaml`);
  }

  get socketPath(): string {
    return this.#host.path(`run/${this.#options.name}.sock`);
  }

  /** The process that was started last; undefined before the first start. */
  get process(): HostProcess | undefined {
    return this.#process;
  }

  get isRunning(): boolean {
    return this.#process?.isRunning === true;
  }

  /** Writes the configuration; YAML holds JSON. */
  writeConfig(config: JsonObject): void {
    writeFileSync(this.configFile, `${JSON.stringify(config, null, 2)}\n`);
  }

  /** Starts `run` and returns at once. @param env put over the environment of this process */
  spawn(env?: NodeJS.ProcessEnv): HostProcess {
    const { name, program } = this.#options;
    if (this.isRunning) throw new Error(`${this.#host.name}: ${name} runs already`);
    if (!existsSync(program)) throw new Error(`${program} is missing: run node scripts/bundle.ts`);
    const argv = [process.execPath, program, 'run', '--config', this.configFile];
    this.#process = this.#host.spawn(name, argv, env === undefined ? {} : { env });
    return this.#process;
  }

  /** Starts `run` and waits until its control socket answers. */
  async start(timeoutMs = 30_000, env?: NodeJS.ProcessEnv): Promise<HostProcess> {
    const daemon = this.spawn(env);
    await daemon.ready(async () => (await this.#tryStatus()) !== undefined, timeoutMs);
    return daemon;
  }

  /** Runs a command that takes the configuration (`check-config`, `prepare`) to its end. */
  command(args: readonly string[], timeoutMs?: number): Promise<CommandResult> {
    return this.#runProgram([...args, '--config', this.configFile], timeoutMs);
  }

  /** Runs a command that asks the running daemon (`status`, `events`) to its end. */
  query(args: readonly string[], timeoutMs?: number): Promise<CommandResult> {
    return this.#runProgram([...args, '--socket', this.socketPath], timeoutMs);
  }

  #runProgram(args: readonly string[], timeoutMs = 20_000): Promise<CommandResult> {
    const argv = [process.execPath, this.#options.program, ...args];
    return tryCommand(inNamespace(this.#host.namespace, argv), {
      cwd: this.#host.folder,
      env: lessOurVariables(process.env),
      timeoutMs,
    });
  }

  /** SIGTERM, and what its end was. */
  async stop(): Promise<ProcessExit | undefined> {
    return this.#process?.stop();
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  /** `GET` or `POST` on the control socket. */
  request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown> {
    return unixRequest(this.socketPath, method, path, body);
  }

  /** The daemon's status, as it says it. */
  async status(): Promise<Status> {
    return (await this.request('GET', '/api/v1/status')) as Status;
  }

  async #tryStatus(): Promise<Status | undefined> {
    try {
      return await this.status();
    } catch (error) {
      // Not there yet, or going away: both are no status. What it answers with an error is worth seeing.
      if (error instanceof UnixHttpError) throw error;
      return undefined;
    }
  }

  /** Waits until the status is as wanted, and resolves with it; the error tells the last one and the log's end. */
  waitFor(what: string, isAsWanted: (status: Status) => boolean, timeoutMs = 10_000): Promise<Status> {
    let last: Status | undefined;
    return waitUntil(
      async () => {
        last = await this.#tryStatus();
        return last !== undefined && isAsWanted(last) ? last : undefined;
      },
      {
        what: `${this.#host.name}: ${what}`,
        timeoutMs,
        detail: () => `last status: ${JSON.stringify(last)}\n${this.#process?.tail() ?? 'never started'}`,
      },
    );
  }
}
