import type { Judgement } from './judgement.ts';
import type { Member } from './member.ts';
import type { Transition } from './member-view.ts';

/** It keeps what it has, which is less than it would get. */
export function holdBack(member: Member, now: number): Transition | undefined {
  const { flaps } = member;
  const times = `it left the pool, or lost its share, ${flaps.exits} times of late`;
  const reason = `good again, held back until it has been so for ${flaps.hold / 1000} s: ${times}`;
  const { weight } = member.judgement;
  const state = weight === 0 ? 'out' : 'last-resort';
  if (state !== member.judgement.state) {
    member.since = now;
  }
  member.judgement = { state, weight, reason };
  if (member.isHeldBack) {
    return undefined;
  }
  member.isHeldBack = true;
  const { name, nextHop } = member;
  return { member: name, nextHop, from: state, to: state, weight, reason, heldFor: flaps.hold };
}

/** It gets what the rules make of it. @param isDrained by the operator: no failure of its own */
export function settle(
  member: Member,
  next: Judgement,
  isDrained: boolean,
  now: number,
): Transition | undefined {
  const before = member.judgement;
  member.judgement = next;
  member.isHeldBack = false;
  if (next.weight > before.weight) {
    member.flaps.raised();
  } else if (
    next.weight < before.weight &&
    !isDrained &&
    before.state !== 'draining' &&
    next.state !== 'draining'
  ) {
    member.flaps.left(now);
  }
  if (before.state === next.state && before.weight === next.weight) {
    return undefined;
  }
  if (before.state !== next.state) {
    member.since = now;
  }
  if (before.weight > 0 && next.weight === 0) {
    member.leftAt = now;
  }
  return {
    member: member.name,
    nextHop: member.nextHop,
    from: before.state,
    to: next.state,
    weight: next.weight,
    reason: next.reason,
  };
}
