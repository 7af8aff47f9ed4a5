/** Network namespaces by their names under /run/netns, as ip-netns(8) keeps them. */
import { readdirSync, statSync } from 'node:fs';
import { runCommand, tryCommand } from './run-command.ts';
import { waitUntil } from './wait-until.ts';

const namespaceFolder = '/run/netns';

/** True when a namespace of this name exists. */
export function namespaceExists(name: string): boolean {
  return statSync(`${namespaceFolder}/${name}`, { throwIfNoEntry: false }) !== undefined;
}

/** Creates a namespace; rejects when the name is taken. */
export async function createNamespace(name: string): Promise<void> {
  await runCommand(['ip', 'netns', 'add', name]);
}

/** Removes a namespace with all interfaces in it; one that is gone already is no error. */
export async function deleteNamespace(name: string): Promise<void> {
  const result = await tryCommand(['ip', 'netns', 'delete', name]);
  if (result.code !== 0 && namespaceExists(name)) {
    throw new Error(`cannot remove the network namespace ${name}: ${result.stderr.trim()}`);
  }
}

/** Runs lines of ip(8) in a namespace, in order, as one process; rejects at the first that fails. */
export async function ipBatch(namespace: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return;
  await runCommand(['ip', '-n', namespace, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** The argument list that runs a program in a namespace: ip(8) becomes the program, so the pid stays the same. */
export function inNamespace(namespace: string, argv: readonly string[]): string[] {
  return ['ip', 'netns', 'exec', namespace, ...argv];
}

/** Processes whose network namespace is one of the named. Zombies have none and are not listed. */
export function processesIn(namespaces: readonly string[]): number[] {
  const inodes = new Set<string>();
  for (const name of namespaces) {
    const stat = statSync(`${namespaceFolder}/${name}`, { throwIfNoEntry: false });
    if (stat !== undefined) inodes.add(`${stat.dev}:${stat.ino}`);
  }
  // A file without a mount on it (left by a crash of ip) is no namespace: the caller's own never counts.
  const own = statSync('/proc/self/ns/net');
  inodes.delete(`${own.dev}:${own.ino}`);
  if (inodes.size === 0) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => {
      try {
        const stat = statSync(`/proc/${pid}/ns/net`);
        return inodes.has(`${stat.dev}:${stat.ino}`);
      } catch {
        return false; // it ended meanwhile
      }
    })
    .map(Number);
}

/** Kills (SIGKILL) every process in the namespaces, also those that they fork meanwhile, and waits for the last. */
export async function killProcessesIn(namespaces: readonly string[]): Promise<void> {
  await waitUntil(
    () => {
      const pids = processesIn(namespaces);
      for (const pid of pids) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch (error) {
          if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
        }
      }
      return pids.length === 0;
    },
    {
      what: `no process left in ${namespaces.join(', ')}`,
      timeoutMs: 10_000,
      everyMs: 5,
      detail: () => `still there: ${processesIn(namespaces).join(', ')}`,
    },
  );
}
