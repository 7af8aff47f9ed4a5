/** Runs in the switch's namespace: switches a port off, and says when it was off by the kernel's own notification. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Link, RouteMonitor } from '@bgp-lb/linux';

const run = promisify(execFile);
let awaited: { readonly port: string; readonly resolve: (at: bigint) => void } | undefined;

/** Listens from now on. */
export function listen(): void {
  new RouteMonitor(
    {
      changed(_kind, { kind, object }) {
        if (kind === 'link') look(object);
      },
      overflow: () => fail(new Error('the kernel dropped notifications')),
      error: fail,
    },
    ['link'],
  );
}

function fail(error: Error): void {
  // A figure after this would be wrong: the process ends, and with it the call that waits.
  console.error(error);
  process.exit(1);
}

function look({ name, isUp }: Link): void {
  if (awaited?.port !== name || isUp) return;
  awaited.resolve(process.hrtime.bigint());
  awaited = undefined;
}

/** Switches a port off. @returns when it was, CLOCK_MONOTONIC in ns */
export async function cut(port: string): Promise<bigint> {
  const isOff = new Promise<bigint>((resolve) => {
    awaited = { port, resolve };
  });
  await run('ip', ['link', 'set', port, 'down']);
  return isOff;
}

/** Switches a port on. */
export async function restore(port: string): Promise<void> {
  await run('ip', ['link', 'set', port, 'up']);
}
