/** Memory and processor time of the processes of one daemon together, from /proc (proc_pid_stat(5), proc_pid_status(5)). */
import { readFileSync } from 'node:fs';

/** USER_HZ: the unit of utime and stime, 100 on every architecture that Linux still has. */
const ticksPerSecond = 100;

/** Seconds in user and kernel mode. */
export function processorTime(pids: readonly number[]): number {
  const times = pids.map((pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold spaces; utime and stime are fields 14 and 15 of the whole line.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  });
  return times.reduce((sum, time) => sum + time, 0);
}

/** VmRSS: what is in memory now. */
export function residentMiB(pids: readonly number[]): number {
  return sumOf(pids, 'VmRSS');
}

/** VmHWM: the sum of what each has had at most. */
export function peakMiB(pids: readonly number[]): number {
  return sumOf(pids, 'VmHWM');
}

function sumOf(pids: readonly number[], field: string): number {
  const pattern = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm');
  return pids
    .map((pid) => Number(pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
    .reduce((sum, size) => sum + size, 0);
}
