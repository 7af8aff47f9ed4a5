/** The scheduling class of the calling thread, for threads whose lateness would be taken for death. */
import { SystemCallError } from './errno.ts';
import { setThreadNice, setThreadPolicy } from './syscalls.ts';

/** SCHED_FIFO (include/uapi/linux/sched.h). */
const fifo = 1;
/** SCHED_RESET_ON_FORK: threads that this one starts are ordinary again. */
const resetOnFork = 0x4000_0000;

/** What a thread asks for. */
export interface SchedulingRequest {
  /** Priority of SCHED_FIFO, 1 to 99; without it SCHED_FIFO is not asked for. Kernel threads that serve interrupts have 50. */
  readonly fifoPriority?: number;
  /** The nice value where SCHED_FIFO is refused or not asked for, -20 to 19. */
  readonly nice: number;
}

/** Why something was refused: `sched_setscheduler: EPERM`, and what that means. */
export interface SchedulingRefusal {
  readonly wanted: 'fifo' | 'nice';
  /** `EPERM` and the like. */
  readonly code: string;
  readonly message: string;
}

/** What the calling thread has now. */
export interface Scheduling {
  readonly policy: 'fifo' | 'nice' | 'ordinary';
  /** SCHED_FIFO priority, nice value, or 0. */
  readonly value: number;
  /** What was tried before and refused. Empty when SCHED_FIFO was got. */
  readonly refusals: readonly SchedulingRefusal[];
}

/**
 * Raises the calling thread: SCHED_FIFO by sched_setscheduler(2), else a nice value by setpriority(2). Both need
 * CAP_SYS_NICE or a resource limit; a kernel with CONFIG_RT_GROUP_SCHED refuses SCHED_FIFO in a cgroup without
 * real-time budget even then. A refusal is not an error: the result tells what was got and why not more.
 * @throws RangeError for a priority or nice value that cannot be
 */
export function raiseCallingThread({ fifoPriority, nice }: SchedulingRequest): Scheduling {
  if (fifoPriority !== undefined) checkRange('SCHED_FIFO priority', fifoPriority, 1, 99);
  checkRange('nice value', nice, -20, 19);
  const refusals: SchedulingRefusal[] = [];
  if (
    fifoPriority !== undefined &&
    isGranted('fifo', () => setThreadPolicy(fifo | resetOnFork, fifoPriority), refusals)
  ) {
    return { policy: 'fifo', value: fifoPriority, refusals };
  }
  if (isGranted('nice', () => setThreadNice(nice), refusals))
    return { policy: 'nice', value: nice, refusals };
  return { policy: 'ordinary', value: 0, refusals };
}

function checkRange(what: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${what}: ${value}; allowed are ${least} to ${most}`);
  }
}

function isGranted(
  wanted: SchedulingRefusal['wanted'],
  set: () => void,
  refusals: SchedulingRefusal[],
): boolean {
  try {
    set();
    return true;
  } catch (error) {
    if (!(error instanceof SystemCallError)) throw error;
    refusals.push({ wanted, code: error.code, message: error.message });
    return false;
  }
}
