/** Programs that the soak starts: none of them outlives it, however it ends. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const live = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of live) child.kill('SIGKILL');
});

/** A program that runs. */
export interface Child {
  readonly pid: number;
  readonly isRunning: boolean;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, and its end. */
  stop(): Promise<void>;
}

/** Starts a program. setpriv(1) has the kernel kill it when this process is killed; all that is in between execs. */
export function startChild(argv: readonly string[], launcher: readonly string[] = []): Child {
  const [program = '', ...args] = [...launcher, 'setpriv', '--pdeathsig', 'KILL', ...argv];
  // A process group of its own: Ctrl-C at the terminal ends the soak, which then ends this.
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot start ${program}`);
  live.add(child);
  child.once('exit', () => live.delete(child));
  return {
    pid,
    get isRunning() {
      return live.has(child);
    },
    signal(signal) {
      child.kill(signal);
    },
    async stop() {
      if (!live.has(child)) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
