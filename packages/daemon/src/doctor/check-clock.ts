import { type Finding, good, warning } from './finding.ts';

/** Whether the clock is kept by NTP: certificates are judged by it. */
export function checkClock(isSynchronized: boolean, now: Date): Finding {
  return isSynchronized
    ? good('time', 'clock', `synchronized, ${now.toISOString()}`)
    : warning(
        'time',
        'clock',
        `not synchronized by the kernel's word, ${now.toISOString()}`,
        'start chrony or systemd-timesyncd: certificates are judged by the clock',
      );
}
