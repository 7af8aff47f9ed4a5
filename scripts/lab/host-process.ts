/** A long-running program of a lab host: its log, its end, and ways to end it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { inNamespace } from './network-namespace.ts';
import { waitUntil } from './wait-until.ts';

/** The environment without BGP_LB_...: a daemon takes those for its configuration, and the shell's are not meant for it. */
export function lessOurVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('BGP_LB_')));
}

/** How a process ended. */
export interface ProcessExit {
  /** Undefined when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
}

/** How a process is started. */
export interface SpawnOptions {
  /** Where both outputs go (appended). */
  readonly logFile: string;
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** True to talk to it over its standard input and output; only standard error is logged then. */
  readonly hasPipes?: boolean;
}

/** A process in a network namespace, in a process group of its own, so that Ctrl-C at the terminal does not reach it. */
export class HostProcess {
  readonly name: string;
  readonly logFile: string;
  /** Resolves when it has ended. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  #exit: ProcessExit | undefined;

  constructor(namespace: string, name: string, argv: readonly string[], options: SpawnOptions) {
    this.name = name;
    this.logFile = options.logFile;
    const log = openSync(options.logFile, 'a');
    const [program = '', ...args] = inNamespace(namespace, argv);
    this.#child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...lessOurVariables(process.env), ...options.env },
      detached: true,
      stdio: options.hasPipes ? ['pipe', 'pipe', log] : ['ignore', log, log],
    });
    closeSync(log);
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => this.#ended({ code: 127, signal: undefined }, resolve));
      this.#child.once('exit', (code, signal) =>
        this.#ended({ code: code ?? undefined, signal: signal ?? undefined }, resolve),
      );
    });
  }

  #ended(exit: ProcessExit, resolve: (exit: ProcessExit) => void): void {
    this.#exit = exit;
    resolve(exit);
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#exit === undefined && this.#child.pid !== undefined;
  }

  /** How it ended; undefined while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Standard input and output of a process that was started with `hasPipes`. */
  get pipes(): { readonly input: Writable; readonly output: Readable } {
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new Error(`${this.name} was started without pipes`);
    return { input: stdin, output: stdout };
  }

  /** Sends a signal to the whole process group; nothing happens when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (!this.isRunning || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }

  /** SIGTERM, and SIGKILL when it has not ended after `timeoutMs` (default 10 s). */
  async stop(timeoutMs = 10_000): Promise<ProcessExit> {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), timeoutMs);
    const exit = await this.exited;
    clearTimeout(timer);
    return exit;
  }

  /** kill -9. */
  async kill(): Promise<ProcessExit> {
    this.signal('SIGKILL');
    return this.exited;
  }

  /** The last lines of the log, for failures. */
  tail(lines = 20): string {
    try {
      return readFileSync(this.logFile, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
    } catch {
      return '';
    }
  }

  /** Resolves when `look` sees what it looks for; rejects at once, with the log, when the process ends before. */
  async ready(look: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
    const detail = (): string => `${this.logFile}:\n${this.tail()}`;
    await waitUntil(
      async () => {
        if (!this.isRunning) {
          throw new Error(`${this.name} ended with ${JSON.stringify(this.#exit)}\n${detail()}`);
        }
        return look();
      },
      { what: `${this.name} ready`, timeoutMs, detail },
    );
  }

  /** Lets this Node process end while that one runs on. */
  unref(): void {
    this.#child.unref();
  }
}
