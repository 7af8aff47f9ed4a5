import type { Judgement } from './judgement.ts';
import type { Member } from './member.ts';

/** A member with what the rules make of it now. */
export interface Judged {
  readonly member: Member;
  readonly next: Judgement;
}

/**
 * Which members are not given more for now, because they left too often of late. Never so many that less than
 * `leastShare` (0 to 1) of the best that could be had is in use, or none is: damping must not make the outage that it is
 * there to prevent. Those that have waited the longest of their time are let in first then.
 * @param leastShare `undefined`: none is held back
 */
export function heldBack(
  judged: readonly Judged[],
  leastShare: number | undefined,
  now: number,
): ReadonlySet<Member> {
  for (const { member } of judged.filter((one) => !asksForMore(one))) {
    member.flaps.interrupt(now);
  }
  const held = judged
    .filter((one) => asksForMore(one) && one.member.flaps.isHeld(now))
    .sort((a, b) => heldUntil(a) - heldUntil(b));
  if (leastShare === undefined) {
    return new Set();
  }
  const best = Math.max(...judged.map(({ next }) => next.weight));
  const ofBest = judged.filter(({ next }) => next.weight === best);
  const inUse = ofBest.filter((one) => !held.includes(one)).length;
  const least = Math.max(1, Math.ceil(ofBest.length * leastShare));
  const released = held.filter(({ next }) => next.weight === best).slice(0, Math.max(0, least - inUse));
  return new Set(held.filter((one) => !released.includes(one)).map(({ member }) => member));
}

/** What is kept without its speaker is in the kernel already, and gets nothing that it had not. */
function asksForMore({ member, next }: Judged): boolean {
  return next.weight > member.judgement.weight && next.state !== 'stale';
}

function heldUntil({ member }: Judged): number {
  return member.flaps.heldUntil ?? 0;
}
