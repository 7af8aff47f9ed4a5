/** A machine with an init: systemd in namespaces of its own, on a copy of this system whose changes live in memory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandResult, tryCommand } from '../../scripts/lab/run-command.ts';
import { waitUntil } from '../../scripts/lab/wait-until.ts';

const script = fileURLToPath(new URL('./systemd-machine.sh', import.meta.url));

/** A running machine. Its network has no interface but `lo`, until it is given one. */
export class SystemdMachine {
  readonly #unshare: ChildProcess;
  readonly #pid: number;
  readonly #folder: string;

  private constructor(unshare: ChildProcess, pid: number, folder: string) {
    this.#unshare = unshare;
    this.#pid = pid;
    this.#folder = folder;
  }

  /** Starts one, and resolves when its systemd takes orders. */
  static async start(): Promise<SystemdMachine> {
    const folder = mkdtempSync(join(tmpdir(), 'bgp-lb-machine-'));
    const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--net', '--cgroup', '--fork', '--kill-child'];
    const unshare = spawn('unshare', [...namespaces, 'sh', script, folder], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    unshare.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    try {
      const pid = await waitUntil(async () => childOf(unshare.pid ?? 0), {
        what: 'the first process of a machine',
      });
      const machine = new SystemdMachine(unshare, pid, folder);
      await waitUntil(
        async () => {
          if (unshare.exitCode !== null) throw new Error(`the machine has ended: ${said}`);
          const { stdout } = await machine.try('systemctl', 'is-active', 'basic.target');
          return stdout === 'active\n' ? true : undefined;
        },
        { what: 'basic.target of a machine', timeoutMs: 60_000, detail: () => said },
      );
      return machine;
    } catch (error) {
      unshare.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs a program on it to its end, whatever that is. */
  try(...argv: readonly string[]): Promise<CommandResult> {
    return tryCommand([...this.#enter(), ...argv], { timeoutMs: 180_000 });
  }

  /** @returns what a program printed. @throws Error with its exit code and both outputs */
  async run(...argv: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.try(...argv);
    if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}\n${stdout}${stderr}`);
    return stdout;
  }

  /** Writes a file, mode 0600. */
  write(path: string, content: string | Uint8Array): void {
    writeFileSync(`/proc/${this.#pid}/root${path}`, content, { mode: 0o600 });
  }

  /** Makes a file of this system appear there. */
  provide(from: string, path: string): void {
    this.write(path, readFileSync(from));
  }

  /** The first process, as this system sees it: for an interface that is to be given to the machine. */
  get pid(): number {
    return this.#pid;
  }

  /** Shuts it down as its operator does, and resolves when it is off. @throws Error when that takes two minutes */
  async powerOff(): Promise<void> {
    const off = once(this.#unshare, 'exit', { signal: AbortSignal.timeout(120_000) });
    await Promise.all([off, this.run('systemctl', 'poweroff')]);
  }

  /** Switches it off at once. */
  async remove(): Promise<void> {
    const isOver = this.#unshare.exitCode !== null || this.#unshare.signalCode !== null;
    const gone = isOver ? undefined : once(this.#unshare, 'exit');
    // The first process of its namespace: all others end with it.
    if (gone !== undefined) process.kill(this.#pid, 'SIGKILL');
    await gone;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #enter(): string[] {
    return [
      'nsenter',
      `--target=${this.#pid}`,
      '--mount',
      '--pid',
      '--uts',
      '--ipc',
      '--net',
      '--cgroup',
      '--',
    ];
  }
}

function childOf(pid: number): number | undefined {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  return child === '' ? undefined : Number(child);
}
