import { FlapRecord, type FlapSettings } from './flap-record.ts';
import type { Barrier } from './gate.ts';
import { MemberGates } from './gate.ts';
import { HealthRecord, type HealthThresholds } from './health-record.ts';
import type { Judgement } from './judgement.ts';
import { type HeldPath, type ListedMember, MemberClaims, type MemberSession } from './member-claims.ts';
import type { SourceId } from './member-source.ts';
import type { MemberView, ProbeVerdict, WeightedNextHop } from './member-view.ts';
import type { PoolSettings } from './pool-settings.ts';

/** A member that is used although no session vouches for it at the moment. */
interface Kept {
  readonly weight: number;
  /** Its own, as it is used; `undefined` for that of the VIP. */
  readonly port: number | undefined;
  /** Until when (monotonic ms). */
  readonly until: number;
  /** Why, in words. */
  readonly reason: string;
  /** Why it is out when no source has claimed it by then, and when its probes fail before. */
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

/**
 * Probes in a row that remove a member whose session is gone, since nothing else vouches for it: refused, or without so much as an
 * accepted connection. A red `/readyz` is an answer, and a slow one is on its way: a machine that is busy, or an etcd election,
 * must not take out whatever has lost its session just then. Such a member waits as those with a session do.
 */
const STALE_PROBES: number = 2;

/**
 * How long a member that asked for less waits for its full share (ms). It gives its share up at once, but each change
 * moves buckets: one that changes its mind many times a second would break the new connections of all.
 */
const RAISE_AFTER: number = 1000;

/** Of a member that was found in the kernel, or is known by something else than a session and a list. */
const NO_SESSION: MemberSession = { isLive: false, state: 'Idle' };

/** What a member announces. */
type Announced = Pick<HeldPath, 'intent' | 'why' | 'identities'>;

/** One member of a pool: what is known of it, and what the rules that need no other member say. */
export class Member {
  readonly nextHop: string;
  readonly #claims: MemberClaims;
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

  constructor(
    nextHop: string,
    settings: () => HealthThresholds & FlapSettings & Pick<PoolSettings, 'hearsSpeakers'>,
    now: number,
  ) {
    this.nextHop = nextHop;
    this.#claims = new MemberClaims(() => settings().hearsSpeakers);
    this.health = new HealthRecord(settings);
    this.flaps = new FlapRecord(settings);
    this.since = now;
  }

  get name(): string {
    return this.#claims.nameOf(this.nextHop);
  }

  /** What the sources ask for together. */
  get path(): HeldPath | undefined {
    return this.#claims.path;
  }

  /** `undefined`: a list has it, and it never had one. */
  get session(): MemberSession | undefined {
    return this.#claims.session ?? (this.#claims.isListed ? undefined : NO_SESSION);
  }

  /** A list that has it says it; before there is one, what was found counts. */
  get port(): number | undefined {
    return this.#claims.isListed ? this.#claims.port : this.kept?.port;
  }

  /** Why there is no path, in words. */
  get absence(): string {
    return this.#absence;
  }

  /** Until then it asked for less a moment ago (monotonic ms). */
  get lowUntil(): number {
    return this.#lowUntil;
  }

  /** True from when BFD said that its host is dead until it is claimed or proven to live. */
  get isDead(): boolean {
    return this.#deadSince !== undefined;
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

  /** True for one that was lost, or has no claim, and is not kept: there is no reason to use it on. */
  get isLost(): boolean {
    return this.kept === undefined && (this.path === undefined || this.isDead);
  }

  announce(source: SourceId, name: string, path: Announced, now: number): void {
    if (this.kept !== undefined) {
      // In use all the time and claimed by its speaker: nothing to prove again.
      this.health.assumePassed(this.kept.isDoubtful ? 'in use all the time' : undefined);
      this.kept = undefined;
    }
    this.loss = undefined;
    this.#deadSince = undefined;
    this.#claims.announce(source, name, { ...path, isListed: false, isStale: false, staleReason: '' });
    this.#noteIntent(now);
  }

  isListedBy(source: SourceId): boolean {
    return this.#claims.isListedBy(source);
  }

  /** A list says nothing of whether it lives: one that is kept goes on being looked at. @param listed `undefined`: no more */
  list(source: SourceId, listed: ListedMember | undefined, now: number): void {
    const { path, port } = this;
    this.#claims.list(source, listed);
    if (path !== undefined && this.path === undefined) {
      this.#leave(`not listed by ${source.kind} any more`);
    } else if (port !== this.port) {
      // Nothing is known of what listens there.
      this.health.reset();
    }
    this.#noteIntent(now);
  }

  #noteIntent(now: number): void {
    if (this.path !== undefined && this.path.intent !== 'active') {
      this.#lowUntil = now + RAISE_AFTER;
    }
  }

  loseSession(source: SourceId, reason: string): void {
    if (!this.#claims.isFresh(source)) {
      return;
    }
    if (this.judgement.weight === 0) {
      // Not in use: a lost session is no reason to begin with it.
      this.withdraw(source, reason);
      return;
    }
    this.health.restartRun();
    this.#claims.makeStale(source, reason);
  }

  withdraw(source: SourceId, reason: string): void {
    this.#claims.withdraw(source);
    this.kept = undefined;
    this.#deadSince = undefined;
    if (this.path === undefined) this.#leave(reason);
  }

  /** Its speaker has told all it has. */
  complete(source: SourceId): void {
    const { path, kept } = this;
    this.#claims.complete(source);
    if (this.path === undefined && (path ?? kept) !== undefined) {
      this.#leave('its speaker does not advertise the VIP');
    }
  }

  /** What it announced is gone by what happened to the member itself. A list that has it still has it: then its health decides. */
  #drop(reason: string): void {
    this.#claims.withdrawAll();
    this.#leave(reason);
  }

  #leave(reason: string): void {
    this.kept = undefined;
    this.#absence = reason;
    this.#deadSince = undefined;
    this.health.reset();
  }

  setSession(source: SourceId, name: string, session: MemberSession, reason: string | undefined): void {
    this.#claims.setSession(source, name, session);
    if (session.isLive) {
      // Its speaker is there, so its host lives.
      this.#deadSince = undefined;
      this.#explainAbsence('its speaker does not advertise the VIP');
    } else if (reason !== undefined) {
      this.#explainAbsence(reason);
    }
  }

  /** Why it has no path, in words. What BFD said of its host is not overruled by how its session ended. */
  #explainAbsence(reason: string): void {
    if (this.path === undefined && this.#deadSince === undefined) {
      this.#absence = reason;
    }
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
    this.#drop(reason);
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
      port: this.port,
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
  adopt({ weight, port }: Pick<WeightedNextHop, 'weight' | 'port'>, until: number): void {
    this.kept = {
      weight,
      port,
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
    if (kept === undefined || now < kept.until) {
      return;
    }
    if (this.path !== undefined) {
      this.kept = undefined;
      return;
    }
    const deadSince = this.#deadSince;
    this.#drop(kept.unclaimed);
    this.#deadSince = deadSince;
  }

  setBarrier(barrier: Barrier | 'identity', reason: string | undefined): void {
    if (reason !== undefined) {
      this.#barriers.set(barrier, reason);
    } else if (this.#barriers.delete(barrier) && barrier === 'link') {
      // It is not known what is at the other end of the cable now.
      this.health.reset();
    }
  }

  /** @param staleTime how long one that lives may wait for its speaker (ms) */
  probed(verdict: ProbeVerdict, detail: string, now: number, staleTime: number): void {
    if (!this.wantsProbes) {
      return;
    }
    this.health.report(verdict, detail, now);
    if (this.isUnclaimed && this.health.silentInARow >= STALE_PROBES) {
      const before = this.kept?.failed ?? this.path?.staleReason;
      this.#drop(`${before}; then ${STALE_PROBES} probes failed: ${detail}`);
      return;
    }
    if (this.path !== undefined && this.health.hasPassed) {
      // Proven by its health, and listed: nothing more is waited for.
      this.kept = undefined;
      this.#deadSince = undefined;
    }
    // Its loss began a new history: whatever is in it was answered after that.
    if (this.kept?.isDoubtful === true && !this.kept.isProvenAlive && this.health.hasAccepted) {
      const lives = this.health.hasAnswered ? 'its API server answers' : 'its API server accepts connections';
      const reason = `${this.kept.unclaimed}, but ${lives}: waiting for its speaker`;
      this.kept = { ...this.kept, until: now + staleTime, reason, isProvenAlive: true };
    }
  }

  view(): MemberView {
    const { state, weight, reason } = this.judgement;
    return {
      name: this.name,
      nextHop: this.nextHop,
      state,
      inPool: weight > 0,
      weight,
      session: this.session?.state ?? 'none',
      sources: this.#claims.views(),
      ...(this.#claims.zone !== undefined && { zone: this.#claims.zone }),
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
