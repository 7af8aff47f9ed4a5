import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { MAX_STATE_SIZE, readRegularFile } from '@bgp-lb/daemon';

/** The keepalived that has this file for its process id; undefined while none runs. */
export function keepalivedPid(pidFile: string): number | undefined {
  try {
    const pid = Number(readRegularFile(pidFile, MAX_STATE_SIZE).toString());
    return Number.isInteger(pid) && pid > 1 && commandOf(pid) === 'keepalived' ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Whether this keepalived was started with this file. */
export function isStartedWith(pid: number, configFile: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(configFile);
  } catch {
    return false;
  }
}

/** Whether any keepalived runs in the network namespace of this process, or may do so. */
export function runsKeepalived(): boolean {
  const own = namespaceOf('self');
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => commandOf(Number(name)) === 'keepalived')
    .some((name) => {
      const theirs = namespaceOf(name);
      // Not to be read without privileges: then it counts as one of here.
      return theirs === undefined || theirs === own;
    });
}

function commandOf(pid: number): string | undefined {
  try {
    const [, command, state] = /^\d+ \((.*)\) (\S)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    // One that has ended and was not waited for does nothing any more.
    return state === 'Z' ? undefined : command;
  } catch {
    return undefined;
  }
}

function namespaceOf(pid: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined;
  }
}
