import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts page-relay.ts, which lives on after this process. Resolves with the address of the page. */
export async function startPageRelay(socketPath: string): Promise<string> {
  const program = new URL('page-relay.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, socketPath], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the relay of the page ended with ${code}`);
  });
  const [address] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
  // What comes of it later is no concern of this process.
  ended.catch(() => undefined);
  child.stdout.destroy();
  child.unref();
  return String(address);
}
