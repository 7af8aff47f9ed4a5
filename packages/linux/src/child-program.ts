/** Other programs, started without fork(2): see `spawnProgram`. */
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { Domain, SocketType } from './socket-constants.ts';
import { awaitProgram, close, socketPair, spawnProgram } from './syscalls.ts';

/** How a program ended: by itself with `code`, or by a signal. */
interface ProgramEnd {
  readonly code: number | undefined;
  readonly signal: number | undefined;
}

/** A program that was started. Both streams have to be read. */
export interface ChildProgram {
  readonly output: Socket;
  readonly errors: Socket;
  /** Resolves when it has ended and nothing is left of it. */
  readonly ended: Promise<ProgramEnd>;
  /** Ends it by SIGKILL; does nothing when it has ended. */
  kill(): void;
}

/**
 * Starts a program. Each that runs takes one of the few threads of libuv's pool: not for many at a time, nor for long.
 * @param program its path, or its name, which is looked for in the folders of PATH
 * @param environment the whole of it, PATH with it
 * @param stdin a descriptor, which stays open here; undefined: /dev/null
 * @throws SystemCallError, or what Node throws for files; `code` is `ENOENT` when there is no such program
 */
export async function startProgram(
  program: string,
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  stdin: number | undefined,
): Promise<ChildProgram> {
  const path = findProgram(program, environment['PATH'] ?? '');
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const opened: number[] = [];
  const own: Socket[] = [];
  const stream = (): Socket => {
    // The program's end has to block, which is a matter of each end: libuv makes ours one that does not.
    const [ours, theirs] = socketPair(Domain.Unix, SocketType.Stream | SocketType.CloseOnExec);
    opened.push(theirs);
    const socket = new Socket({ fd: ours, readable: true, writable: false });
    own.push(socket);
    return socket;
  };
  try {
    const [output, errors] = [stream(), stream()];
    const [outputEnd = -1, errorsEnd = -1] = opened;
    const input = stdin ?? openSync('/dev/null', 'r');
    try {
      const pid = await spawnProgram(path, [program, ...argv], variables, [input, outputEnd, errorsEnd]);
      return running(pid, output, errors);
    } finally {
      if (stdin === undefined) closeSync(input);
    }
  } catch (error) {
    for (const socket of own) socket.destroy();
    throw error;
  } finally {
    for (const descriptor of opened) close(descriptor);
  }
}

function running(pid: number, output: Socket, errors: Socket): ChildProgram {
  let hasEnded = false;
  const ended = awaitProgram(pid).then((status): ProgramEnd => {
    hasEnded = true;
    const signal = status & 0x7f;
    return signal === 0 ? { code: (status >> 8) & 0xff, signal: undefined } : { code: undefined, signal };
  });
  return {
    output,
    errors,
    ended,
    kill: () => {
      if (!hasEnded) process.kill(pid, 'SIGKILL');
    },
  };
}

/** As execvp(3) does it. @throws with the code of what is wrong with the last one that is there, `ENOENT` when none is */
function findProgram(program: string, folders: string): string {
  if (program.includes('/')) return program;
  let failure: unknown = Object.assign(new Error(`${program} is not in ${folders}`), { code: 'ENOENT' });
  for (const folder of folders.split(':').filter((one) => one !== '')) {
    const path = `${folder}/${program}`;
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch (error) {
      const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (!isAbsent) failure = error;
    }
  }
  throw failure;
}
