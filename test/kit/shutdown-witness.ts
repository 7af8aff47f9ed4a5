/** The surroundings of a machine that shuts down: a network, a BGP neighbor, a master, and one record of what they saw. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';
import { NetworkNamespace } from './network-namespace.ts';

const main = fileURLToPath(new URL('./shutdown-witness-main.ts', import.meta.url));

/** See shutdown-witness-main.ts for what it tells. */
export class ShutdownWitness {
  readonly #namespace: NetworkNamespace;
  readonly #child: ChildProcess;
  readonly #seen: string[] = [];

  private constructor(namespace: NetworkNamespace, child: ChildProcess) {
    this.#namespace = namespace;
    this.#child = child;
    if (child.stdout === null) throw new Error('the witness has no output');
    createInterface({ input: child.stdout }).on('line', (line) => this.#seen.push(line));
  }

  /**
   * Starts it, and gives the machine an interface `eth0` to it.
   * @param pid the machine's first process
   * @param folder with apiserver.crt and apiserver.key
   */
  static async start(pid: number, folder: string): Promise<ShutdownWitness> {
    const namespace = NetworkNamespace.create('witness');
    const cable = `bgplb-w${process.pid}`;
    const ip = (...argv: string[]): Promise<string> => runCommand(['ip', ...argv]);
    await ip(
      'link',
      'add',
      cable,
      'netns',
      namespace.name,
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      String(pid),
    );
    for (const address of ['10.9.0.1/24', '10.9.0.3/24'])
      await ip('-n', namespace.name, 'address', 'add', address, 'dev', cable);
    await ip('-n', namespace.name, 'address', 'add', '10.100.0.1/32', 'dev', 'lo');
    await ip('-n', namespace.name, 'link', 'set', cable, 'up');
    const child = spawn('ip', ['netns', 'exec', namespace.name, process.execPath, main, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    const witness = new ShutdownWitness(namespace, child);
    await witness.saw('ready');
    return witness;
  }

  /** Everything, in its order. */
  get seen(): readonly string[] {
    return this.#seen;
  }

  /** Resolves when a line has this beginning. @param log what to show as well when that takes too long */
  async saw(beginning: string, log: () => Promise<string> = async () => ''): Promise<void> {
    await waitUntil(async () => this.#seen.some((line) => line.startsWith(beginning)), {
      what: `the witness sees "${beginning}"`,
      timeoutMs: 60_000,
      detail: async () => `${this.#seen.join('\n')}\n${await log()}`,
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGKILL');
      await gone;
    }
    await this.#namespace.remove();
  }
}
