/** The processes of network namespaces, found by the kernel's word and not by who started them. */
import { readdirSync, statSync } from 'node:fs';

/** Where ip-netns(8) keeps the names. */
export const namespaceFolder = '/run/netns';

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

/** Sends a signal to every process in the namespaces; gives how many there were. */
export function signalProcessesIn(namespaces: readonly string[], signal: NodeJS.Signals): number {
  const pids = processesIn(namespaces);
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
  return pids.length;
}
