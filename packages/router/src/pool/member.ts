import { HealthRecord, type HealthThresholds } from './health-record.ts';
import {
  FULL_WEIGHT,
  type Intent,
  LEAST_WEIGHT,
  type MemberState,
  type MemberView,
  type Verdict,
} from './member-view.ts';

/** A path of a member as the pool holds it. */
interface HeldPath {
  readonly intent: Intent;
  readonly why: string;
  readonly isStale: boolean;
  /** Why it is stale, in words. */
  readonly staleReason: string;
}

/** What a rule makes of a member: its state, share and the reason. */
export interface Judgement {
  readonly state: MemberState;
  readonly weight: number;
  readonly reason: string;
}

/** When a member that fails softly is moved out. Milliseconds. */
export interface Eviction {
  readonly after: number;
  /** Monotonic time since when enough others are good: when all fail together, the time begins with their recovery. */
  readonly enoughGoodSince: number;
}

/** Bad probes in a row that remove a member whose session is gone: nothing else vouches for it. */
const STALE_PROBES: number = 2;

/**
 * How long a member that asked for less waits for its full share (ms). It gives its share up at once, but each change
 * moves buckets: one that changes its mind many times a second would break the new connections of all.
 */
const RAISE_AFTER: number = 1000;

/** One member of a pool: what is known of it, and what the rules that need no other member say. */
export class Member {
  readonly nextHop: string;
  name: string;
  session = 'Idle';
  path: HeldPath | undefined;
  /** Weight and deadline (monotonic ms) of a next hop that was found in the kernel and not claimed yet. */
  adopted: { readonly weight: number; readonly until: number } | undefined;
  readonly health: HealthRecord;
  /** Why there is no path, in words. */
  absence = 'its speaker has not connected yet';
  judgement: Judgement = { state: 'out', weight: 0, reason: '' };
  since: number;
  /** Until then it asked for less (monotonic ms). */
  #lowUntil = Number.NEGATIVE_INFINITY;

  constructor(nextHop: string, name: string, thresholds: HealthThresholds, now: number) {
    this.nextHop = nextHop;
    this.name = name;
    this.health = new HealthRecord(thresholds);
    this.since = now;
  }

  /** True for a member whose health may be overruled: it has a session with a path and has passed before. */
  get isCandidate(): boolean {
    return this.path !== undefined && !this.path.isStale && this.health.hasPassed;
  }

  /** True while nothing but its health vouches for it. */
  get isUnclaimed(): boolean {
    return this.adopted !== undefined || this.path?.isStale === true;
  }

  /** True when probes through this member are of use. */
  get wantsProbes(): boolean {
    return this.path !== undefined || this.adopted !== undefined;
  }

  announce(intent: Intent, why: string, now: number): void {
    if (intent !== 'active') {
      this.#lowUntil = now + RAISE_AFTER;
    }
    if (this.adopted !== undefined) {
      // In the pool before the restart and claimed by its speaker: nothing to prove anew.
      this.health.assumePassed();
      this.adopted = undefined;
    }
    this.path = { intent, why, isStale: false, staleReason: '' };
  }

  loseSession(reason: string): void {
    if (this.path === undefined || this.path.isStale) {
      return;
    }
    if (this.judgement.weight === 0) {
      // Not in use: a lost session is no reason to begin with it.
      this.remove(reason);
      return;
    }
    this.health.restartRun();
    this.path = { ...this.path, isStale: true, staleReason: reason };
  }

  remove(reason: string): void {
    this.path = undefined;
    this.adopted = undefined;
    this.absence = reason;
    this.health.reset();
  }

  probed(verdict: Verdict, detail: string, now: number): void {
    if (!this.wantsProbes) {
      return;
    }
    this.health.report(verdict, detail, now);
    if (this.isUnclaimed && this.health.failuresInARow >= STALE_PROBES) {
      const before = this.adopted === undefined ? `${this.path?.staleReason}` : 'not claimed after a restart';
      this.remove(`${before}; then ${STALE_PROBES} probes failed: ${detail}`);
    }
  }

  /** The member's own state before the rules that compare members; `isOverruled`: the panic rule holds. */
  judge(isOverruled: boolean, eviction: Eviction, now: number): Judgement {
    const { path, adopted } = this;
    if (adopted !== undefined) {
      return {
        state: 'stale',
        weight: adopted.weight,
        reason: 'found in the kernel, waiting for its speaker',
      };
    }
    if (path === undefined) {
      return out(this.absence);
    }
    if (!this.health.hasPassed) {
      return out(`not passed its health check yet: ${this.health.detail}`);
    }
    if (path.isStale) {
      const weight = this.health.failure === undefined ? weightOf(path.intent) : LEAST_WEIGHT;
      return { state: 'stale', weight, reason: path.staleReason };
    }
    return this.#judgeHealth(path, isOverruled, eviction, now);
  }

  #judgeHealth(path: HeldPath, isOverruled: boolean, eviction: Eviction, now: number): Judgement {
    const { failure, detail } = this.health;
    const isEarly = path.intent === 'active' && now < this.#lowUntil;
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
      return { ...asked, reason: `health check fails (${detail}), kept because too few members are good` };
    }
    if (failure === 'unreachable') {
      return out(`health check finds no way: ${detail}`);
    }
    if (path.intent === 'draining') {
      // It is stopping and says so: its live connections have the time that its speaker gives them.
      return { ...asked, weight: LEAST_WEIGHT };
    }
    if (now >= this.#evictedAt(eviction)) {
      return out(`health check fails for more than ${eviction.after / 1000} s: ${detail}`);
    }
    return { state: 'last-resort', weight: LEAST_WEIGHT, reason: `health check fails: ${detail}` };
  }

  /** When this member's judgement may change by time alone (monotonic ms). */
  deadlines(eviction: Eviction): readonly number[] {
    if (this.adopted !== undefined) {
      return [this.adopted.until];
    }
    if (!this.isCandidate) {
      return [];
    }
    return this.health.failure === 'soft' ? [this.#evictedAt(eviction), this.#lowUntil] : [this.#lowUntil];
  }

  #evictedAt({ after, enoughGoodSince }: Eviction): number {
    return Math.max(this.health.failingSince, enoughGoodSince) + after;
  }

  view(): MemberView {
    const { state, weight, reason } = this.judgement;
    return {
      name: this.name,
      nextHop: this.nextHop,
      state,
      inPool: weight > 0,
      weight,
      session: this.session,
      health: this.health.health,
      reason,
      since: this.since,
    };
  }
}

function weightOf(intent: Intent): number {
  return intent === 'active' ? FULL_WEIGHT : LEAST_WEIGHT;
}

function out(reason: string): Judgement {
  return { state: 'out', weight: 0, reason };
}
