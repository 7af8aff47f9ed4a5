import type { Condition } from '../api/fields.ts';
import { listAt, textAt } from './read-json.ts';

/** What is to be said of one type of condition. */
export interface Finding {
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
}

/** Longest text of a condition. */
const LONGEST = 2_048;

/** Conditions as they are to be; `lastTransitionTime` moves with `status` alone. @param now milliseconds since 1970 */
export function conditionsOf(
  previous: unknown,
  findings: Readonly<Record<string, Finding>>,
  generation: number | undefined,
  now: number,
): readonly Condition[] {
  const before = listAt(previous, 'conditions');
  return Object.entries(findings).map(([type, { status, reason, message }]) => {
    const same = before.find((one) => one['type'] === type && one['status'] === status);
    return {
      type,
      status,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime: textAt(same, 'lastTransitionTime') ?? rfc3339(now),
      reason,
      message: cutAt(message, LONGEST),
    };
  });
}

/** As metav1.Time writes it: whole seconds. */
export function rfc3339(now: number): string {
  return `${new Date(now).toISOString().slice(0, 19)}Z`;
}

/** The beginning of a text of others, which may be of any length; of a character that two code units make up no half is left. */
export function cutAt(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
