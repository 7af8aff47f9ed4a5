/** A Node process somewhere else (a network namespace), which runs functions of a test on a module it imported. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** What the test asks of the process: the source text of a function, and its argument. */
export interface RunRequest {
  readonly id: number;
  readonly source: string;
  readonly argument: unknown;
}

/** What the process says: that it is ready, a result, or what was thrown. */
export type RunAnswer =
  | { readonly ready: true }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly thrown: string };

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Made by NetworkNamespace.start; `Subject` is the type of the imported module. */
export class NamespaceProcess<Subject> {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: RunAnswer) => this.#take(answer));
    child.on('exit', (code, signal) => {
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`the process in the namespace ended with ${signal ?? code}`));
      }
      this.#waiting.clear();
    });
  }

  /** @param launcher a command that runs the command appended to it, as `ip netns exec NAME` does */
  static async start<Subject>(launcher: readonly string[], module: URL): Promise<NamespaceProcess<Subject>> {
    const [program = '', ...argv] = launcher;
    const main = fileURLToPath(new URL('./namespace-process-main.ts', import.meta.url));
    // As the daemons have it: a thread that a test raises to real time must not wait for ordinary ones to collect garbage.
    const child = spawn(program, [...argv, process.execPath, '--single-threaded-gc', main, module.href], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      // Options of the test runner's own process are not for this one.
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const ready = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => undefined)]);
    if (ready === undefined) throw new Error(`${launcher.join(' ')}: the process ended before it was ready`);
    return new NamespaceProcess<Subject>(child);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /**
   * Runs a function over there, and gives what it returns or throws. It travels as source text: it sees its
   * parameters and globals, and nothing of what surrounds it here. Argument and result are copied.
   */
  async run<Result>(body: (subject: Subject) => Result | Promise<Result>): Promise<Result>;
  async run<Argument, Result>(
    body: (subject: Subject, argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  async run(body: (subject: Subject, argument: never) => unknown, argument?: unknown): Promise<unknown> {
    this.#lastId += 1;
    const request: RunRequest = { id: this.#lastId, source: String(body), argument };
    return new Promise((resolve, reject) => {
      this.#waiting.set(request.id, { resolve, reject });
      this.#child.send(request, (error) => {
        if (error !== null) reject(error);
      });
    });
  }

  /** Lets the process end by itself, and kills it when it has not done so after a second. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 1000);
    await exit;
    clearTimeout(timer);
  }

  #take(answer: RunAnswer): void {
    if ('ready' in answer) return;
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('thrown' in answer) waiting?.reject(new Error(`in the namespace: ${answer.thrown}`));
    else waiting?.resolve(answer.result);
  }
}
