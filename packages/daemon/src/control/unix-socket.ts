import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createConnection, type Server } from 'node:net';
import { dirname } from 'node:path';
import { LONGEST_SOCKET_PATH } from '../config/file-path.ts';

/** A path at which no Unix socket can be made. */
export class UnixSocketError extends Error {
  override readonly name = 'UnixSocketError';
  readonly path: string;

  constructor(path: string, message: string, options?: ErrorOptions) {
    super(`socket ${path} ${message}`, options);
    this.path = path;
  }
}

/** Throws `UnixSocketError` when a path is too long for a Unix socket. */
export function checkSocketPath(path: string): void {
  const length = Buffer.byteLength(path);
  if (length > LONGEST_SOCKET_PATH) {
    throw new UnixSocketError(
      path,
      `has a path of ${length} octets; allowed: at most ${LONGEST_SOCKET_PATH}`,
    );
  }
}

/** True when a process listens at the path; false when nothing is there or its owner is dead. */
export function isSocketAlive(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      // EAGAIN: the owner lives and its backlog is full.
      if (error.code === 'EAGAIN') resolve(true);
      else if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false);
      else reject(new UnixSocketError(path, `cannot be looked at: ${error.message}`, { cause: error }));
    });
  });
}

/**
 * Makes a server listen on a Unix socket that only its owner may use (mode 0600 from the first moment on). The socket file of a
 * dead process is replaced; that of a living one, and anything that is not a socket, is an error.
 */
export async function listenOnUnixSocket(server: Server, path: string): Promise<void> {
  checkSocketPath(path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const existing = lstatSync(path, { throwIfNoEntry: false });
  if (existing !== undefined) {
    if (!existing.isSocket())
      throw new UnixSocketError(path, 'cannot be made: a file that is not a socket is there');
    if (await isSocketAlive(path)) throw new UnixSocketError(path, 'is in use by another process');
    rmSync(path, { force: true });
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // bind(2) happens within listen(), so that the mask holds for it and for nothing else.
    const mask = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
  chmodSync(path, 0o600);
}
