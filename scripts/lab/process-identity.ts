/** Names a process beyond the reuse of its number: pid and start time (field 22 of /proc/PID/stat, proc(5)). */
import { readFileSync } from 'node:fs';

/** A process for as long as it lives; no later process has the same pair. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks after boot. */
  readonly startTime: string;
}

function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/** The identity of a running process; undefined when there is none of that number. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  const startTime = startTimeOf(pid);
  return startTime === undefined ? undefined : { pid, startTime };
}

/** True while that very process runs. */
export function isProcessAlive(process: ProcessIdentity): boolean {
  return startTimeOf(process.pid) === process.startTime;
}
