import { isUnanswered } from './netlink-error.ts';

/** Half a second each is what a request waits for its answer. */
const defaultAttempts = 20;

/**
 * Asks the kernel again where it has not answered, for a process that starts and has nothing else to do: others may hold the lock of
 * the kernel's network configuration for seconds, as the end of many network namespaces does.
 * @throws what the kernel answers, and NetlinkError or NetlinkFormatError of the last attempt
 */
export async function untilAnswered<T>(
  ask: () => T | Promise<T>,
  attempts: number = defaultAttempts,
): Promise<T> {
  for (let left = attempts; ; left -= 1) {
    try {
      return await ask();
    } catch (error) {
      if (left <= 1 || !isUnanswered(error)) throw error;
    }
  }
}
