import type { Judgement } from './judgement.ts';
import type { Member } from './member.ts';
import { FULL_WEIGHT, LEAST_WEIGHT } from './member-view.ts';

/** A member with what the rules make of it. */
interface Judged {
  readonly member: Member;
  readonly next: Judgement;
}

/**
 * Gives members whose clients are not served, though health finds nothing, the least weight: what works of their connections stays, and
 * new ones go to others. Never to more than leaves the panic threshold of those that would have their full share, and never to all of
 * them: those that were doubted first have it first.
 * @param doubts why, by next hop, in the order in which they were doubted
 */
export function applyDoubts(
  judged: readonly Judged[],
  doubts: ReadonlyMap<string, string>,
  panicThreshold: number,
): Judged[] {
  const full = judged.filter(({ next }) => next.state === 'active' && next.weight === FULL_WEIGHT);
  const most = Math.min(full.length - 1, Math.floor(full.length * (1 - panicThreshold)));
  const lowered = new Set(
    [...doubts.keys()]
      .filter((nextHop) => full.some(({ member }) => member.nextHop === nextHop))
      .slice(0, Math.max(0, most)),
  );
  return judged.map(({ member, next }) => {
    const why = lowered.has(member.nextHop) ? doubts.get(member.nextHop) : undefined;
    return why === undefined
      ? { member, next }
      : { member, next: { state: 'last-resort', weight: LEAST_WEIGHT, reason: why } };
  });
}
