import type { Identities } from './cluster-identity.ts';
import { FlapRecord, type FlapSettings } from './flap-record.ts';
import { HealthRecord, type HealthThresholds } from './health-record.ts';
import { MemberGates } from './member-gates.ts';
import {
  FULL_WEIGHT,
  type Intent,
  LEAST_WEIGHT,
  type MemberState,
  type MemberView,
  type Verdict,
} from './member-view.ts';
import type { Barrier } from './pool-event.ts';

/** A path of a member as the pool holds it. */
interface HeldPath {
  readonly intent: Intent;
  readonly why: string;
  readonly isStale: boolean;
  /** Why it is stale, in words. */
  readonly staleReason: string;
  /** Which cluster its speaker says that it is of; empty when it does not. */
  readonly identities: Identities;
}

/** A member that is used although no session vouches for it at the moment. */
interface Kept {
  readonly weight: number;
  /** Until when (monotonic ms). */
  readonly until: number;
  /** Why, in words. */
  readonly reason: string;
  /** Why it is out when nobody has claimed it by then, and when its probes fail before. */
  readonly unclaimed: string;
  readonly failed: string;
  /** BFD lost it together with all the others: it may be we who were deaf. */
  readonly isDoubtful: boolean;
  /** It was in doubt, and its API server has answered since: what is waited for is its speaker alone. */
  readonly isProvenAlive: boolean;
}

/** A loss by BFD that may yet turn out to be our own deafness. */
interface Loss {
  readonly at: number;
  readonly weight: number;
  readonly reason: string;
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

/**
 * Probes in a row without an answer that remove a member whose session is gone: nothing else vouches for it. A red
 * `/readyz` is an answer: one slow etcd election must not take out whatever has lost its session just then.
 */
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
  /** What it is used by without a path. */
  kept: Kept | undefined;
  /** The last loss by BFD, until it announces itself again. */
  loss: Loss | undefined;
  readonly health: HealthRecord;
  readonly flaps: FlapRecord;
  readonly gates: MemberGates = new MemberGates();
  /** Why there is no path, in words. */
  #absence = 'its speaker has not connected yet';
  /** Since when BFD says that its host is dead (monotonic ms). */
  #deadSince: number | undefined;
  readonly #barriers = new Map<Barrier | 'identity', string>();
  judgement: Judgement = { state: 'out', weight: 0, reason: '' };
  since: number;
  /** It would have more, but left too often of late. */
  isHeldBack = false;
  /** When it was last taken out of use (monotonic ms). */
  leftAt: number | undefined;
  /** Until then it asked for less (monotonic ms). */
  #lowUntil = Number.NEGATIVE_INFINITY;

  constructor(nextHop: string, name: string, settings: () => HealthThresholds & FlapSettings, now: number) {
    this.nextHop = nextHop;
    this.name = name;
    this.health = new HealthRecord(settings);
    this.flaps = new FlapRecord(settings);
    this.since = now;
  }

  /** Why there is no path, in words. */
  get absence(): string {
    return this.#absence;
  }

  /** What it misses besides path and health, in words. */
  barrier(kind: Barrier | 'identity'): string | undefined {
    return this.#barriers.get(kind);
  }

  /** It has a session with a path, and the way to it is proven. */
  get couldServe(): boolean {
    const isVouchedFor = this.path !== undefined && !this.path.isStale && this.health.hasAnswered;
    return isVouchedFor && !this.#barriers.has('link') && !this.#barriers.has('bfd');
  }

  /** True for a member whose health may be overruled: it could serve, and is of our cluster. */
  get isCandidate(): boolean {
    return this.couldServe && !this.#barriers.has('identity');
  }

  /** True while nothing but its health vouches for it. */
  get isUnclaimed(): boolean {
    return this.kept !== undefined || this.path?.isStale === true;
  }

  /** True when probes through this member are of use. */
  get wantsProbes(): boolean {
    return this.path !== undefined || this.kept !== undefined;
  }

  announce(intent: Intent, why: string, identities: Identities, now: number): void {
    if (intent !== 'active') {
      this.#lowUntil = now + RAISE_AFTER;
    }
    if (this.kept !== undefined) {
      // In use all the time and claimed by its speaker: nothing to prove anew.
      this.health.assumePassed(this.kept.isDoubtful ? 'in use all the time' : undefined);
      this.kept = undefined;
    }
    this.loss = undefined;
    this.#deadSince = undefined;
    this.path = { intent, why, isStale: false, staleReason: '', identities };
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
    this.kept = undefined;
    this.#absence = reason;
    this.#deadSince = undefined;
    this.health.reset();
  }

  /** Why it has no path, in words. What BFD said of its host is not overruled by how its session ended. */
  explainAbsence(reason: string): void {
    if (this.path === undefined && this.#deadSince === undefined) {
      this.#absence = reason;
    }
  }

  /** Its speaker is there, so its host lives. */
  sessionEstablished(): void {
    this.#deadSince = undefined;
    this.explainAbsence('its speaker does not advertise the VIP');
  }

  /**
   * BFD says that its host is dead. Without effect on one whose process had died before: that its BFD fell silent
   * with it says nothing of the host.
   */
  loseHost(reason: string, now: number): void {
    const isWithoutProcess = this.path?.isStale === true || this.kept?.isDoubtful === true;
    if (isWithoutProcess || (this.path === undefined && this.kept === undefined)) {
      return;
    }
    const { weight } = this.judgement;
    this.loss = weight > 0 ? { at: now, weight, reason } : undefined;
    this.remove(reason);
    this.#deadSince = now;
  }

  /** Uses it on until `until`, although BFD says that its host is dead. */
  doubtLoss(why: string, until: number): void {
    const { loss } = this;
    if (loss === undefined) {
      return;
    }
    this.kept = {
      weight: loss.weight,
      until,
      reason: `${loss.reason}, ${why}: probed before that is believed`,
      unclaimed: loss.reason,
      failed: loss.reason,
      isDoubtful: true,
      isProvenAlive: false,
    };
    this.loss = undefined;
  }

  /** It was forwarded to before this process began. */
  adopt(weight: number, until: number): void {
    this.kept = {
      weight,
      until,
      reason: 'found in the kernel, waiting for its speaker',
      unclaimed: 'its speaker did not come back after the restart of the router',
      failed: 'not claimed after a restart',
      isDoubtful: false,
      isProvenAlive: false,
    };
  }

  /** Ends what is kept for too long. */
  expire(now: number): void {
    const { kept } = this;
    if (kept !== undefined && now >= kept.until) {
      const deadSince = this.#deadSince;
      this.remove(kept.unclaimed);
      this.#deadSince = deadSince;
    }
  }

  setBarrier(barrier: Barrier | 'identity', reason: string | undefined): void {
    if (reason !== undefined) {
      this.#barriers.set(barrier, reason);
    } else if (this.#barriers.delete(barrier) && barrier === 'link') {
      // Nobody knows what is at the other end of the cable now.
      this.health.reset();
    }
  }

  /** @param staleTime how long one that lives may wait for its speaker (ms) */
  probed(verdict: Verdict, detail: string, now: number, staleTime: number): void {
    if (!this.wantsProbes) {
      return;
    }
    this.health.report(verdict, detail, now);
    if (this.isUnclaimed && this.health.unansweredInARow >= STALE_PROBES) {
      const before = this.kept?.failed ?? this.path?.staleReason;
      this.remove(`${before}; then ${STALE_PROBES} probes failed: ${detail}`);
      return;
    }
    // Its loss began a new history: whatever is in it was answered after that.
    if (this.kept?.isDoubtful === true && !this.kept.isProvenAlive && this.health.hasAnswered) {
      const reason = `${this.kept.unclaimed}, but its API server answers: waiting for its speaker`;
      this.kept = { ...this.kept, until: now + staleTime, reason, isProvenAlive: true };
    }
  }

  /** The member's own state before the rules that compare members; `isOverruled`: the panic rule holds. */
  judge(isOverruled: boolean, eviction: Eviction, now: number): Judgement {
    const { path, kept } = this;
    const noLink = this.#barriers.get('link');
    if (noLink !== undefined && (path ?? kept) !== undefined) {
      return out(noLink);
    }
    if (kept !== undefined) {
      return { state: 'stale', weight: kept.weight, reason: kept.reason };
    }
    if (path === undefined) {
      return out(this.#absence);
    }
    const isOfOther = this.#barriers.get('identity');
    if (isOfOther !== undefined) {
      return out(isOfOther);
    }
    if (!this.health.hasPassed) {
      // Nothing good is there, and this one answers: its speaker offers it as a last resort, and that is what it is.
      if (isOverruled && this.isCandidate && path.intent === 'last-resort') {
        return { state: 'last-resort', weight: LEAST_WEIGHT, reason: path.why };
      }
      return out(`not passed its health check yet: ${this.health.detail}`);
    }
    if (path.isStale) {
      const weight = this.health.failure === undefined ? weightOf(path.intent) : LEAST_WEIGHT;
      return { state: 'stale', weight, reason: path.staleReason };
    }
    const noBfd = this.#barriers.get('bfd');
    if (noBfd !== undefined) {
      return out(noBfd);
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
    if (this.kept !== undefined) {
      return [this.kept.until];
    }
    if (!this.isCandidate) {
      return [];
    }
    const timed = [this.#lowUntil, this.flaps.heldUntil ?? this.#lowUntil];
    return this.health.failure === 'soft' ? [this.#evictedAt(eviction), ...timed] : timed;
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
      ...(this.#deadSince !== undefined && weight === 0 && { reasonSince: this.#deadSince }),
      since: this.since,
      exits: this.flaps.exits,
      gates: this.gates.all,
      ...(this.isHeldBack && { heldUntil: this.flaps.heldUntil ?? this.since }),
    };
  }
}

function weightOf(intent: Intent): number {
  return intent === 'active' ? FULL_WEIGHT : LEAST_WEIGHT;
}

function out(reason: string): Judgement {
  return { state: 'out', weight: 0, reason };
}
