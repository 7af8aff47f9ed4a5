import type { HealthRecord } from './health-record.ts';
import type { Eviction, Judgement } from './judgement.ts';
import type { Member } from './member.ts';
import type { HeldPath } from './member-claims.ts';
import { FULL_WEIGHT, type Intent, LEAST_WEIGHT } from './member-view.ts';

/**
 * The member's own state before the rules that compare members.
 * @param isOverruled too few are good, among those that this one is to be compared with
 */
export function judge(member: Member, isOverruled: boolean, eviction: Eviction, now: number): Judgement {
  const { path, kept, health } = member;
  const noLink = member.barrier('link');
  if (noLink !== undefined && (path ?? kept) !== undefined) {
    return out(noLink);
  }
  if (kept !== undefined) {
    return judgeUnclaimed(health, kept, isOverruled, eviction, now);
  }
  if (path === undefined) {
    return out(member.absence);
  }
  const isOfOther = member.barrier('identity');
  if (isOfOther !== undefined) {
    return out(isOfOther);
  }
  if (!health.hasPassed) {
    // Nothing good is there, and this one answers: its speaker offers it as a last resort, and that is what it is.
    if (isOverruled && member.isCandidate && path.intent === 'last-resort') {
      return { state: 'last-resort', weight: LEAST_WEIGHT, reason: path.why };
    }
    const isDead = member.isDead;
    const since = isDead
      ? `${member.absence}; not passed its health check since`
      : 'not passed its health check yet';
    return out(`${since}: ${health.detail}`);
  }
  if (path.isStale) {
    const asked = { weight: weightOf(path.intent), reason: path.staleReason };
    return judgeUnclaimed(health, asked, isOverruled, eviction, now);
  }
  const noBfd = member.barrier('bfd');
  if (noBfd !== undefined) {
    return out(noBfd);
  }
  return judgeHealth(member, path, isOverruled, eviction, now);
}

/** One that no session vouches for, and whose host lives as far as is known: it waits for its speaker as long as one with a session may fail. */
function judgeUnclaimed(
  health: HealthRecord,
  { weight, reason }: { readonly weight: number; readonly reason: string },
  isOverruled: boolean,
  eviction: Eviction,
  now: number,
): Judgement {
  if (health.failure === undefined) return { state: 'stale', weight, reason };
  if (isOverruled) {
    return { state: 'stale', weight, reason: `${reason}; ${overruled(health.detail)}` };
  }
  if (now >= evictedAt(health, eviction)) {
    return out(`${reason}; health check fails for more than ${eviction.after / 1000} s: ${health.detail}`);
  }
  return { state: 'stale', weight: LEAST_WEIGHT, reason: `${reason}; health check fails: ${health.detail}` };
}

function overruled(detail: string): string {
  return `health check fails (${detail}), kept because too few members are good`;
}

function judgeHealth(
  member: Member,
  path: HeldPath,
  isOverruled: boolean,
  eviction: Eviction,
  now: number,
): Judgement {
  const { failure, detail } = member.health;
  const isEarly = path.intent === 'active' && now < member.lowUntil;
  const asked: Judgement = isEarly
    ? { state: 'last-resort', weight: LEAST_WEIGHT, reason: 'its speaker asked for less a moment ago' }
    : { state: path.intent, weight: weightOf(path.intent), reason: path.why };
  if (failure === undefined) {
    return asked;
  }
  if (failure === 'refused') {
    return out(`health check refused: ${detail}`);
  }
  if (isOverruled) {
    return { ...asked, reason: overruled(detail) };
  }
  if (failure === 'unreachable') {
    return out(`health check finds no way: ${detail}`);
  }
  if (path.intent === 'draining') {
    // It is stopping and says so: its live connections have the time that its speaker gives them.
    return { ...asked, weight: LEAST_WEIGHT };
  }
  if (now >= evictedAt(member.health, eviction)) {
    return out(`health check fails for more than ${eviction.after / 1000} s: ${detail}`);
  }
  return { state: 'last-resort', weight: LEAST_WEIGHT, reason: `health check fails: ${detail}` };
}

/** When the judgement of a member may change by time alone (monotonic ms). */
export function deadlinesOf(member: Member, eviction: Eviction): readonly number[] {
  const { kept, health } = member;
  if (member.isUnclaimed) {
    return [
      ...(kept === undefined ? [] : [kept.until]),
      ...(health.failure === undefined ? [] : [evictedAt(health, eviction)]),
    ];
  }
  if (!member.isCandidate) {
    return [];
  }
  const timed = [member.lowUntil, member.flaps.heldUntil ?? member.lowUntil];
  return health.failure === 'soft' ? [evictedAt(health, eviction), ...timed] : timed;
}

function evictedAt(health: HealthRecord, { after, enoughGoodSince }: Eviction): number {
  return Math.max(health.failingSince, enoughGoodSince) + after;
}

function weightOf(intent: Intent): number {
  return intent === 'active' ? FULL_WEIGHT : LEAST_WEIGHT;
}

function out(reason: string): Judgement {
  return { state: 'out', weight: 0, reason };
}
