/** Memory and processor time of processes, from /proc (proc_pid_stat(5), proc_pid_status(5)). */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { round } from '../statistics.ts';

/** USER_HZ: the unit of utime and stime, 100 on every architecture that Linux still has. */
const ticksPerSecond = 100;

/** A process at rest. */
export interface Usage {
  readonly process: string;
  readonly rssMiB: number;
  /** Percent of one core, over the time of rest. */
  readonly cpuPercent: number;
}

function residentMiB(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kibibytes) / 1024;
}

/** Seconds in user and kernel mode. */
export function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in parentheses, may hold spaces; utime and stime are fields 14 and 15 of the whole line.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Lets the processes rest for `seconds` and says what they used. */
export async function usageAtRest(
  processes: Readonly<Record<string, number>>,
  seconds: number,
): Promise<Usage[]> {
  const before = Object.entries(processes).map(([name, pid]) => ({ name, pid, time: processorTime(pid) }));
  const since = performance.now();
  await sleep(seconds * 1000);
  const elapsed = (performance.now() - since) / 1000;
  return before.map(({ name, pid, time }) => ({
    process: name,
    rssMiB: round(residentMiB(pid), 1),
    cpuPercent: round(((processorTime(pid) - time) / elapsed) * 100, 2),
  }));
}
