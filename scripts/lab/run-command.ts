/** Runs a program to its end and gives what it printed; the lab's one way to call `ip`, `openssl` and `vtysh`. */
import { spawn } from 'node:child_process';

/** What a finished program left. `code` is 128 + signal number when a signal ended it, as a shell has it. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run. */
export interface CommandOptions {
  /** Written to standard input, which is closed after it. */
  readonly input?: string;
  /** Milliseconds after which the program is killed; 20 s when not given. */
  readonly timeoutMs?: number;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A program that could not be started, or ended with another status than 0. */
class CommandError extends Error {
  readonly argv: readonly string[];
  readonly result: CommandResult;

  constructor(argv: readonly string[], result: CommandResult) {
    super(`${argv.join(' ')}: exit status ${result.code}: ${(result.stderr || result.stdout).trim()}`);
    this.name = 'CommandError';
    this.argv = argv;
    this.result = result;
  }
}

/** Runs a program and resolves with its status and output, whatever the status is. */
export function tryCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [program, ...args] = argv;
  if (program === undefined) throw new RangeError('a command needs a program');
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      stdio: 'pipe',
      timeout: options.timeoutMs ?? 20_000,
      killSignal: 'SIGKILL',
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.env === undefined ? {} : { env: options.env }),
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', (error) => resolve({ code: 127, stdout, stderr: error.message }));
    child.on('close', (code, signal) =>
      resolve({
        code: code ?? 128,
        stdout,
        stderr: signal === null ? stderr : `${stderr}ended by ${signal}`,
      }),
    );
    // A program that ends without reading its input closes the pipe: its exit status says what happened.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

/** Runs a program and resolves with its standard output; rejects with a CommandError unless it exits with 0. */
export async function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<string> {
  const result = await tryCommand(argv, options);
  if (result.code !== 0) throw new CommandError(argv, result);
  return result.stdout;
}
