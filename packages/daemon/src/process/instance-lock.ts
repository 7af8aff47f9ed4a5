import { linkSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkSocketPath, isSocketAlive } from '../control/unix-socket.ts';

/** Another instance runs. */
export class InstanceLockError extends Error {
  override readonly name = 'InstanceLockError';
  readonly path: string;
  /** Process id of the holder as it sees itself, when it said so. */
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    super(
      `another instance is running (${pid === undefined ? 'it does not say its process id' : `process ${pid}`}): it holds ${path}`,
    );
    this.path = path;
    this.pid = pid;
  }
}

/** A held lock. */
export interface InstanceLock {
  /** Gives it up; the end of the process does so too. */
  release(): void;
}

const ANSWER_TIMEOUT_MS = 1000;
const MAX_ATTEMPTS = 5;
/** Others that took the place of a dead lock at the same moment have done what they were about to do after this time. */
const SETTLE_MS = 25;

/**
 * Makes this process the only one with the lock, or throws `InstanceLockError`, which names the holder.
 *
 * The lock is a listening Unix socket: it ends with its process however that ends, works across network and process id namespaces
 * that share the folder (a host's daemon and a pod's), and can answer who holds it. It is a file rather than an abstract name,
 * because any local user may take an abstract name and so keep the daemon from starting.
 */
export async function acquireInstanceLock(path: string): Promise<InstanceLock> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const own = `${path}.${process.pid}`;
  checkSocketPath(own);
  rmSync(own, { force: true });
  const server = await listen(own);
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (tryLink(own, path)) {
        await sleep(SETTLE_MS);
        // Another process may have moved what it took for the dead one: only what stays there is a lock.
        if (inodeOf(path) === inodeOf(own)) return held(server, path);
        continue;
      }
      const seen = inodeOf(path);
      if (await isSocketAlive(path)) throw new InstanceLockError(path, await holderOf(path));
      await removeDead(path, seen, `${own}.dead`);
    }
    throw new InstanceLockError(path, undefined);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function listen(path: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(`${process.pid}\n`);
  });
  server.maxConnections = 16;
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const mask = process.umask(0o177);
    try {
      server.listen(path, () => resolve(server));
    } finally {
      process.umask(mask);
    }
  });
}

/** link(2) is atomic and never replaces: one of two that try wins. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** `undefined` when nothing is there. */
function inodeOf(path: string): bigint | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

/**
 * Takes a dead lock out of the way. Between our look and the rename another process may have replaced it: what was renamed is
 * looked at again, and put back when it lives.
 */
async function removeDead(path: string, inode: bigint | undefined, aside: string): Promise<void> {
  if (inodeOf(path) !== inode) return;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  if (await isSocketAlive(aside)) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function held(server: Server, path: string): InstanceLock {
  let isHeld = true;
  return {
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(path, { force: true });
      server.close();
    },
  };
}

/** The process id that the holder answers with. A holder that hangs answers nothing. */
function holderOf(path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = createConnection(path);
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      const pid = /^(\d{1,10})\n/.exec(text)?.[1];
      resolve(pid === undefined ? undefined : Number(pid));
    };
    const timer = setTimeout(done, ANSWER_TIMEOUT_MS);
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (text.includes('\n') || text.length > 16) done();
    });
    socket.on('error', done);
    socket.on('end', done);
  });
}
