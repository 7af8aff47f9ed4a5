import { applyDoubts } from './client-doubts.ts';
import { ClusterIdentity, type Identified, identityText, isOf } from './cluster-identity.ts';
import { heldBack } from './held-back.ts';
import { deadlinesOf, judge } from './judge-member.ts';
import type { Eviction } from './judgement.ts';
import { Member } from './member.ts';
import { gatesOf } from './member-gates.ts';
import type { MemberView, Transition, WeightedNextHop } from './member-view.ts';
import { applyDrains, type OperatorDrain } from './operator-drain.ts';
import type { PoolEvent } from './pool-event.ts';
import type { PoolSettings } from './pool-settings.ts';
import { holdBack, settle } from './settle.ts';

/** Rules of a pool that hold at the moment. Monotonic milliseconds. */
export interface PoolRules {
  /** Too few members are good, and health is overruled, since then. */
  readonly panicSince: number | undefined;
  /** The pool was empty, has a good member, and waits for others. */
  readonly initialHold: { readonly since: number; readonly until: number } | undefined;
}

/** Why a member is probed at another pace than usual: see `HealthChecker`. */
export type ProbeUrgency = 'normal' | 'rising' | 'unclaimed' | 'doubted';

/** How long a member in doubt is kept until it has answered a probe (ms). */
const DOUBT = 2000;
/** Who was in the pool this long before it became empty is waited for by the initial hold (ms). */
const KNOWN_FROM = 60_000;
/** Members without session and path are forgotten after this time. */
const FORGET_AFTER = 24 * 3600 * 1000;
/** The most members that one pool remembers; beyond it those longest out are forgotten first. */
const MAX_MEMBERS = 128;

/**
 * Who serves a VIP, and with which share. Pure: events and the time in, transitions out; the group to program is
 * `nextHops()`, and `wakeAt` says when a `tick` is due.
 */
export class Pool {
  readonly vip: string;
  #settings: PoolSettings;
  #members = new Map<string, Member>();
  #cluster: ClusterIdentity;
  /** Members that the operator drains, by next hop; also those that are not there. */
  #drains = new Map<string, OperatorDrain>();
  /** Members that clients are not served by, with why. */
  #doubts: ReadonlyMap<string, string> = new Map();
  /** Until when an empty pool with a good member waits for more, and since when it has. */
  #holdUntil: number | undefined;
  #holdSince: number | undefined;
  /** Since when health is overruled. */
  #panicSince: number | undefined;
  #wakeAt: number | undefined;
  /** Since when enough members have been good: a member's time to recover does not run while all fail together. */
  #enoughGoodSince = Number.NEGATIVE_INFINITY;
  /** The same, with those that wait for their speakers. */
  #enoughOfAllSince = Number.NEGATIVE_INFINITY;

  constructor(vip: string, settings: PoolSettings) {
    this.vip = vip;
    this.#settings = settings;
    this.#cluster = new ClusterIdentity(settings.identities);
  }

  /** Monotonic milliseconds of the next change by time alone; `undefined` for none. */
  get wakeAt(): number | undefined {
    return this.#wakeAt;
  }

  /** All that are in use are so only because it may be we who were deaf: no reason to draw traffic here. */
  get isDoubtful(): boolean {
    const inUse = [...this.#members.values()].filter(({ judgement }) => judgement.weight > 0);
    return inUse.length > 0 && inUse.every(({ kept }) => kept?.isDoubtful === true && !kept.isProvenAlive);
  }

  /** The members in the pool, in a stable order. */
  nextHops(): WeightedNextHop[] {
    return this.#sorted()
      .filter((member) => member.judgement.weight > 0)
      .map((member) => ({ ...placeOf(member), weight: member.judgement.weight }));
  }

  /** Every member that is known, in a stable order. */
  members(): MemberView[] {
    return this.#sorted().map((member) => member.view());
  }

  /** The rules that concern all members, where one holds. Monotonic milliseconds. */
  rules(): PoolRules {
    const [since, until] = [this.#holdSince, this.#holdUntil];
    return {
      panicSince: this.#panicSince,
      initialHold: since === undefined || until === undefined ? undefined : { since, until },
    };
  }

  /** True when this member is in use and no other one is active that stays: without it none would be left to serve. */
  needs(nextHop: string): boolean {
    const isInUse = this.nextHops().some((one) => one.nextHop === nextHop);
    const others = this.#sorted().filter(
      (one) => one.nextHop !== nextHop && !this.#drains.has(one.nextHop) && one.judgement.state === 'active',
    );
    return isInUse && others.length === 0 && !this.#drains.has(nextHop);
  }

  /** Next hops that are to be probed, with what a quick second opinion is wanted for. */
  probes(): { readonly nextHop: string; readonly port?: number; readonly urgency: ProbeUrgency }[] {
    return this.#sorted()
      .filter((member) => member.wantsProbes)
      .map((member) => ({ ...placeOf(member), urgency: urgencyOf(member) }));
  }

  /** Goes by other numbers from the next event on; `identities` are those of the beginning. */
  setSettings(settings: PoolSettings): void {
    this.#settings = settings;
  }

  /** Takes one event in and returns what it changed. */
  handle(event: PoolEvent, now: number): Transition[] {
    this.#apply(event, now);
    for (const member of this.#members.values()) {
      member.expire(now);
    }
    this.#forget(now);
    return this.#evaluate(now);
  }

  #apply(event: PoolEvent, now: number): void {
    switch (event.type) {
      case 'session':
        this.#member(event.nextHop, now).setSession(event.source, event.name, event.session, event.reason);
        return;
      case 'announced':
        this.#applyAnnounced(event, now);
        return;
      case 'stale':
        this.#members.get(event.nextHop)?.loseSession(event.source, event.reason);
        return;
      case 'withdrawn':
        this.#members.get(event.nextHop)?.withdraw(event.source, event.reason);
        return;
      case 'listed':
        this.#applyListed(event, now);
        return;
      case 'lost':
        this.#applyLost(event, now);
        return;
      case 'barrier':
        this.#applyBarrier(event, now);
        return;
      case 'complete':
        this.#members.get(event.nextHop)?.complete(event.source);
        return;
      case 'adopted':
        for (const one of event.members) {
          this.#member(one.nextHop, now).adopt(one, now + this.#settings.staleTime);
        }
        return;
      case 'operator':
        if (event.drain === undefined) this.#drains.delete(event.nextHop);
        else this.#drains.set(event.nextHop, event.drain);
        return;
      case 'doubts':
        this.#doubts = event.doubts;
        return;
      case 'probed':
        this.#members.get(event.nextHop)?.probed(event.verdict, event.detail, now, this.#settings.staleTime);
        return;
      case 'tick':
        return;
    }
    event satisfies never;
  }

  #applyAnnounced(event: Extract<PoolEvent, { type: 'announced' }>, now: number): void {
    const { source, nextHop, name, intent, why = '', identities = [] } = event;
    this.#member(nextHop, now).announce(source, name, { intent, why, identities }, now);
  }

  #applyListed({ source, members }: Extract<PoolEvent, { type: 'listed' }>, now: number): void {
    const listed = new Map(members.map((one) => [one.address, one]));
    const gone = [...this.#members.values()].filter(
      (member) => member.isListedBy(source) && !listed.has(member.nextHop),
    );
    for (const member of gone) {
      member.list(source, undefined, now);
    }
    for (const [address, one] of listed) {
      this.#member(address, now).list(source, one, now);
    }
  }

  /**
   * A host that BFD says is dead is out at once. But when BFD has lost the last one of all that were in use, and all
   * of them within one detection time, it is more likely we who were deaf: they are kept for a moment and probed.
   */
  #applyLost({ members, window }: Extract<PoolEvent, { type: 'lost' }>, now: number): void {
    for (const { nextHop, reason, isDoubtful } of members) {
      const member = this.#members.get(nextHop);
      member?.loseHost(reason, now);
      if (isDoubtful === true) {
        member?.doubtLoss('but this host may have been deaf', now + DOUBT);
      }
    }
    const all = [...this.#members.values()];
    const isEmptied = !all.some((member) => member.judgement.weight > 0 && !member.isLost);
    for (const member of isEmptied ? all : []) {
      if (member.loss !== undefined && now - member.loss.at <= window) {
        member.doubtLoss('as all the others at once', now + DOUBT);
      }
    }
  }

  /** Also of a member that is not known yet, or was forgotten: it must not slip in without what it needs. */
  #applyBarrier({ nextHop, barrier, reason }: Extract<PoolEvent, { type: 'barrier' }>, now: number): void {
    const known = this.#members.get(nextHop);
    const isNeeded = barrier === 'bfd' && reason !== undefined;
    const member = known ?? (isNeeded ? this.#member(nextHop, now) : undefined);
    member?.setBarrier(barrier, reason);
  }

  #evaluate(now: number): Transition[] {
    const members = [...this.#members.values()];
    this.#identify(members);
    const isOverruled = this.#isPanic(members.filter(({ isCandidate }) => isCandidate));
    this.#panicSince = isOverruled ? (this.#panicSince ?? now) : undefined;
    if (isOverruled) {
      this.#enoughGoodSince = now;
    }
    // Members that wait for their speakers are good or not beside all that are in use.
    const areFewGood = this.#isPanic(members.filter((one) => one.isCandidate || one.isUnclaimed));
    if (areFewGood) {
      this.#enoughOfAllSince = now;
    }
    const wasEmpty = members.every((member) => member.judgement.weight === 0);
    const ruled = members.map((member) => ({
      member,
      next: judge(member, member.isUnclaimed ? areFewGood : isOverruled, this.#evictionOf(member), now),
    }));
    const trusted = isOverruled ? ruled : applyDoubts(ruled, this.#doubts, this.#settings.panicThreshold);
    const judged = applyDrains(trusted, this.#drains, now);
    // Where too few are good, or none is there, all are taken.
    const leastShare = wasEmpty || isOverruled ? undefined : this.#settings.panicThreshold;
    const isBack = heldBack(judged, leastShare, now);
    const eligible = judged.filter(({ next }) => next.weight > 0);
    const isHeld = this.#hold(
      wasEmpty,
      eligible.map(({ member }) => member.nextHop),
      now,
    );
    this.#holdSince = isHeld ? (this.#holdSince ?? now) : undefined;
    const transitions: Transition[] = [];
    for (const { member, next } of judged) {
      const held = { state: 'out', weight: 0, reason: 'good; waiting for the others (initialHold)' } as const;
      const transition = isBack.has(member)
        ? holdBack(member, now)
        : settle(member, isHeld && next.weight > 0 ? held : next, this.#drains.has(member.nextHop), now);
      if (transition !== undefined) {
        transitions.push(transition);
      }
    }
    for (const member of members) {
      const isDrained = this.#drains.has(member.nextHop);
      const doubt = this.#doubts.get(member.nextHop);
      member.gates.look(gatesOf(member, { isHeld, isDrained, doubt }), now);
    }
    // Before the next event, which may be that a member in use says of which cluster it is.
    this.#cluster.learn(members.map(identified));
    this.#wakeAt = this.#nextDeadline(members, now);
    return transitions;
  }

  /** Who is of another cluster is none of ours, however well it serves that. */
  #identify(members: readonly Member[]): void {
    const cluster = this.#cluster.learn(members.map(identified));
    for (const member of members) {
      const { identities } = identified(member);
      const said = `its CA is ${identityText(identities)}, that of this pool ${identityText(cluster)}`;
      const isOurs = isOf(cluster, identities);
      member.setBarrier('identity', isOurs ? undefined : `is of another cluster: ${said}`);
    }
  }

  #evictionOf({ isUnclaimed }: Member): Eviction {
    const enoughGoodSince = isUnclaimed ? this.#enoughOfAllSince : this.#enoughGoodSince;
    return { after: this.#settings.evictAfter, enoughGoodSince };
  }

  /** Too few of those that could serve are good: better all of them than a last one that collapses. */
  #isPanic(able: readonly Member[]): boolean {
    const candidates = able.filter(({ nextHop }) => !this.#drains.has(nextHop));
    // What is kept needs no pass: it was in use all the time.
    const good = candidates.filter(
      ({ health, kept }) => health.failure === undefined && (health.hasPassed || kept !== undefined),
    );
    return good.length < candidates.length * this.#settings.panicThreshold;
  }

  #hold(wasEmpty: boolean, eligible: readonly string[], now: number): boolean {
    if (!wasEmpty || eligible.length === 0) {
      this.#holdUntil = undefined;
      return false;
    }
    // Kept members are in the kernel already: to leave them out would be the gap that the hold is no excuse for.
    if (eligible.some((nextHop) => this.#members.get(nextHop)?.kept !== undefined)) {
      this.#holdUntil = undefined;
      return false;
    }
    const { initialHold } = this.#settings;
    const known = this.#known();
    const allThere = known.length > 0 && known.every((nextHop) => eligible.includes(nextHop));
    this.#holdUntil ??= now + initialHold;
    if (allThere || now >= this.#holdUntil) {
      this.#holdUntil = undefined;
      return false;
    }
    return true;
  }

  /** Who is to be there: who is configured or on a list, or else who was in use before the pool became empty. */
  #known(): readonly string[] {
    const { expected, isOpen } = this.#settings;
    const listed = [...this.#members.values()].filter(
      ({ path }) => path?.isListed && path.intent === 'active',
    );
    if (!isOpen && expected.length + listed.length > 0) {
      return [...expected, ...listed.map(({ nextHop }) => nextHop)];
    }
    const left = [...this.#members.values()].flatMap(({ nextHop, leftAt }) =>
      leftAt === undefined ? [] : [{ nextHop, leftAt }],
    );
    const emptiedAt = Math.max(...left.map(({ leftAt }) => leftAt));
    return left.filter(({ leftAt }) => leftAt >= emptiedAt - KNOWN_FROM).map(({ nextHop }) => nextHop);
  }

  #nextDeadline(members: readonly Member[], now: number): number | undefined {
    const deadlines = members
      .flatMap((member) => deadlinesOf(member, this.#evictionOf(member)))
      .concat(this.#holdUntil ?? [], ...[...this.#drains.values()].map(({ until }) => until))
      .filter((deadline) => deadline > now);
    return deadlines.length === 0 ? undefined : Math.min(...deadlines);
  }

  #forget(now: number): void {
    const idle = [...this.#members.values()]
      .filter((member) => !member.wantsProbes && member.session?.isLive !== true)
      .filter((member) => !this.#settings.expected.includes(member.nextHop))
      .sort((a, b) => a.since - b.since);
    for (const member of idle) {
      if (now - member.since >= FORGET_AFTER || this.#members.size > MAX_MEMBERS) {
        this.#members.delete(member.nextHop);
      }
    }
  }

  #member(nextHop: string, now: number): Member {
    const member = this.#members.get(nextHop) ?? new Member(nextHop, () => this.#settings, now);
    this.#members.set(nextHop, member);
    return member;
  }

  #sorted(): Member[] {
    return [...this.#members.values()].sort((a, b) => (a.nextHop < b.nextHop ? -1 : 1));
  }
}

function placeOf({ nextHop, port }: Member): { readonly nextHop: string; readonly port?: number } {
  return port === undefined ? { nextHop } : { nextHop, port };
}

function identified(member: Member): Identified {
  const { path, couldServe, judgement } = member;
  const identities = path?.identities ?? [];
  return { identities, hasPath: path !== undefined, couldServe, isInUse: judgement.weight > 0 };
}

function urgencyOf({ kept, isUnclaimed, health }: Member): ProbeUrgency {
  if (kept?.isDoubtful === true) {
    return 'doubted';
  }
  return isUnclaimed ? 'unclaimed' : health.isRising ? 'rising' : 'normal';
}
