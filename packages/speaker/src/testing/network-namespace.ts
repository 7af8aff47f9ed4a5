import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline';

const folder = '/run/netns';

/** Removes the namespaces of test processes that were killed before they could. */
function removeAbandoned(): void {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const pid = /^bgplb-spk-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    try {
      execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
    } catch (error) {
      // Another test process removes them too.
      if (existsSync(`${folder}/${name}`)) throw error;
    }
  }
}

/** A network namespace of a test, with whatever runs in it. Removed by `remove`, also when the test failed. */
export class NetworkNamespace {
  readonly name: string;
  readonly #processes: LineProcess[] = [];

  constructor(name: string) {
    removeAbandoned();
    this.name = `bgplb-spk-${process.pid}-${name}`;
    execFileSync('ip', ['netns', 'add', this.name]);
    this.ip('link', 'set', 'lo', 'up');
  }

  /** Runs ip(8) in the namespace and returns what it printed. */
  ip(...args: string[]): string {
    return execFileSync('ip', ['-n', this.name, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Runs a program in the namespace to its end and returns what it printed. Throws when it fails. */
  run(program: string, ...args: string[]): string {
    return execFileSync('ip', ['netns', 'exec', this.name, program, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Starts a program of ours in the namespace that talks in lines of JSON. */
  start(file: string, ...args: string[]): LineProcess {
    return this.startProgram(process.execPath, file, ...args);
  }

  /** The same for any program. */
  startProgram(program: string, ...args: string[]): LineProcess {
    const started = new LineProcess(['netns', 'exec', this.name, program, ...args]);
    this.#processes.push(started);
    return started;
  }

  /** A veth pair to another namespace; each end has the name of the other side's role. */
  connect(link: string, other: NetworkNamespace): void {
    this.ip('link', 'add', link, 'type', 'veth', 'peer', 'name', link, 'netns', other.name);
    for (const namespace of [this, other]) {
      // Without DAD nothing about addresses changes by itself some seconds later.
      namespace.run('sh', '-c', `echo 0 >/proc/sys/net/ipv6/conf/${link}/accept_dad`);
      namespace.ip('link', 'set', link, 'up');
    }
  }

  async remove(): Promise<void> {
    await Promise.all(this.#processes.map((started) => started.stop()));
    execFileSync('ip', ['netns', 'del', this.name]);
  }
}

/** A child process that is asked by lines of JSON on its input, and answers by lines of JSON on its output. */
export class LineProcess {
  readonly #child;
  readonly #lines: Interface;
  readonly #received: unknown[] = [];
  readonly #closed: Promise<void>;
  #wake: () => void = () => undefined;
  #isClosed = false;
  #complaints = '';

  constructor(args: readonly string[]) {
    // `ip netns exec` replaces itself by the program: the child is the program.
    this.#child = spawn('ip', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#lines = createInterface({ input: this.#child.stdout });
    this.#lines.on('line', (line) => {
      this.#received.push(JSON.parse(line));
      this.#wake();
    });
    this.#child.stderr.on('data', (chunk) => {
      this.#complaints = `${this.#complaints}${chunk}`.slice(-4096);
    });
    this.#closed = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  send(message: unknown): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** The next message that the predicate takes; those before it are kept. Throws when the process ends first. */
  async next<T>(take: (message: unknown) => T | undefined): Promise<T> {
    let seen = 0;
    for (;;) {
      for (; seen < this.#received.length; seen += 1) {
        const taken = take(this.#received[seen]);
        if (taken === undefined) continue;
        this.#received.splice(seen, 1);
        return taken;
      }
      if (this.#isClosed) throw this.#ended();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether the process has sent such a message, of those that `next` has not taken. */
  hasSent(isIt: (message: unknown) => boolean): boolean {
    return this.#received.some(isIt);
  }

  #ended(): Error {
    return new Error(
      `the process ended; it had sent ${JSON.stringify(this.#received)} and said ${this.#complaints}`,
    );
  }

  /** Waits for the end of the process; its exit code, `null` when a signal ended it. */
  async exit(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }

  /** Ends the process by a signal and waits for it. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.#isClosed) this.#child.kill(signal);
    await this.#closed;
  }
}

/** The value of a key of a message, or `undefined`: for `LineProcess.next`. */
export function field(name: string): (message: unknown) => unknown {
  return (message) =>
    typeof message === 'object' && message !== null ? Reflect.get(message, name) : undefined;
}
