import { spawn } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { listenOnUnixSocket } from './unix-socket.ts';

let folder: ReturnType<typeof temporaryFolder>;
const servers: Server[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
  folder.remove();
});

function newServer(): Server {
  const server = createServer((socket) => socket.end());
  servers.push(server);
  return server;
}

/** Leaves the socket file of a process that was killed. */
async function leaveDeadSocket(path: string): Promise<void> {
  const code = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

describe('listenOnUnixSocket', () => {
  it('makes the folder, and a socket that only its owner may use, and leaves the umask alone', async () => {
    const path = join(folder.path, 'run', 'x.sock');
    const mask = process.umask();
    await listenOnUnixSocket(newServer(), path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(mask);
  });

  it('replaces the socket of a dead process', async () => {
    const path = join(folder.path, 'x.sock');
    await leaveDeadSocket(path);
    expect(existsSync(path)).toBe(true);
    await listenOnUnixSocket(newServer(), path);
  });

  it('leaves the socket of a living process', async () => {
    const path = join(folder.path, 'x.sock');
    const living = newServer();
    await listenOnUnixSocket(living, path);
    await expect(listenOnUnixSocket(newServer(), path)).rejects.toThrow(/is in use by another process/);
    expect(living.listening).toBe(true);
    expect(existsSync(path)).toBe(true);
  });

  it('leaves a file that is not a socket', async () => {
    const path = join(folder.path, 'x.sock');
    writeFileSync(path, 'precious');
    await expect(listenOnUnixSocket(newServer(), path)).rejects.toThrow(
      /a file that is not a socket is there/,
    );
    expect(statSync(path).size).toBe(8);
  });

  it('refuses a path that the kernel would cut', async () => {
    const path = join(folder.path, 'x'.repeat(120));
    await expect(listenOnUnixSocket(newServer(), path)).rejects.toThrow(/allowed: at most 107/);
  });
});
