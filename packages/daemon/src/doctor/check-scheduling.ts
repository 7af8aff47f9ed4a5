import { type Finding, good, warning } from './finding.ts';

/** Milliseconds of silence after which a neighbor is dead, from which on an ordinary thread is in time: 300 ms x 3, the default. */
const UNHURRIED = 900;

export interface ThreadScheduling {
  /** What the thread of BFD got: `SCHED_FIFO 10`, or less and why. */
  readonly scheduling: string;
  /** The shortest time in which a neighbor takes silence for death, in milliseconds; undefined where it may be any. */
  readonly detectionTime?: number;
  /** How the daemon is given CAP_SYS_NICE here. */
  readonly grant: string;
}

/**
 * Whether the thread of BFD has its place before others, by what it was granted. A negative nice value takes the same capability:
 * where one was granted, SCHED_FIFO was refused for another reason. Pure.
 */
export function checkScheduling({ scheduling, detectionTime, grant }: ThreadScheduling): Finding {
  const check = 'bfd';
  const place = 'thread';
  if (scheduling.startsWith('SCHED_FIFO')) return good(check, place, scheduling);
  if (/^nice -?\d+$/.test(scheduling)) {
    return good(check, place, `${scheduling}: nothing was refused, it begins and asks for SCHED_FIFO next`);
  }
  if (scheduling.startsWith('nice')) {
    return warning(
      check,
      place,
      scheduling,
      'the daemon has CAP_SYS_NICE, and the kernel refuses SCHED_FIFO in its cgroup: give that real-time time (cpu.rt_runtime_us), or boot a kernel without CONFIG_RT_GROUP_SCHED',
    );
  }
  if (!scheduling.startsWith('ordinary')) {
    return warning(check, place, scheduling, 'see the log of the daemon: the thread is started again');
  }
  if (detectionTime === undefined) {
    return warning(check, place, scheduling, `${grant}: a busy host may otherwise take neighbors for dead`);
  }
  return detectionTime < UNHURRIED
    ? warning(
        check,
        place,
        `${scheduling}: a busy host may be taken for dead by neighbors that wait ${detectionTime} ms`,
        `${grant}, or let bfd.transmitInterval x bfd.detectMultiplier be ${UNHURRIED} ms or more`,
      )
    : good(check, place, `${scheduling}: enough for neighbors that wait ${detectionTime} ms`);
}
