import { type Finding, good, warning } from './finding.ts';

/** Whether the clock is kept by NTP: certificates are judged by it. @param isSynchronized undefined where the kernel cannot be asked */
export function checkClock(isSynchronized: boolean | undefined, now: Date): Finding {
  if (isSynchronized === undefined) {
    return warning(
      'time',
      'clock',
      `the kernel does not say whether it is synchronized, ${now.toISOString()}`,
      'run doctor outside of the sandbox that forbids adjtimex',
    );
  }
  return isSynchronized
    ? good('time', 'clock', `synchronized, ${now.toISOString()}`)
    : warning(
        'time',
        'clock',
        `not synchronized by the kernel's word, ${now.toISOString()}`,
        'start chrony or systemd-timesyncd: certificates are judged by the clock',
      );
}
