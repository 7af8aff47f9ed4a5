import type { Judgement } from './judgement.ts';
import type { Member } from './member.ts';
import { LEAST_WEIGHT } from './member-view.ts';

/** The operator takes a member out on this load balancer. */
export interface OperatorDrain {
  /** Until then it keeps its live connections, with the least weight; after that it gets nothing (monotonic ms). */
  readonly until: number;
  /** Also when no other member is there to serve. */
  readonly isForced: boolean;
}

/** A member with what the rules make of it. */
interface Judged {
  readonly member: Member;
  readonly next: Judgement;
}

/**
 * Takes from members that the operator drains what the rules gave them. Never does that empty a pool by itself, unless it is
 * forced: a drained member serves on, with the least weight, while no other does.
 */
export function applyDrains(
  judged: readonly Judged[],
  drains: ReadonlyMap<string, OperatorDrain>,
  now: number,
): Judged[] {
  const isServed = judged.some(({ member, next }) => !drains.has(member.nextHop) && next.weight > 0);
  return judged.map(({ member, next }) => {
    const drain = drains.get(member.nextHop);
    return { member, next: drain === undefined ? next : drained(next, drain, isServed, now) };
  });
}

function drained(
  next: Judgement,
  { until, isForced }: OperatorDrain,
  isServed: boolean,
  now: number,
): Judgement {
  const reason = 'drained here by the operator';
  if (next.weight === 0) {
    return { ...next, reason: `${reason}; ${next.reason}` };
  }
  if (now < until) {
    return { state: 'draining', weight: LEAST_WEIGHT, reason };
  }
  return isServed || isForced
    ? { state: 'out', weight: 0, reason }
    : { state: 'draining', weight: LEAST_WEIGHT, reason: `${reason}, and kept since nobody else serves` };
}
