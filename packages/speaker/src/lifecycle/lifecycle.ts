import type { Clock } from '@bgp-lb/protocol/node';
import type { VipConfig } from '../config/speaker-config.ts';
import type { VipCheckResult } from '../health/vip-check.ts';
import type { BindCheck, LifecycleInput, LifecycleTimes } from './lifecycle-input.ts';
import { step } from './step.ts';
import { type Advertisement, desiredOf, type Hold, type VipState, type VipStateName } from './vip-state.ts';

/** What is the same for all VIPs of this master. */
export type SharedInput = Pick<
  LifecycleInput,
  | 'role'
  | 'bootstrap'
  | 'bootstrapDetail'
  | 'readiness'
  | 'readinessDetail'
  | 'isPortClosed'
  | 'drain'
  | 'isHurried'
>;

export interface Transition {
  readonly vip: string;
  readonly from: VipStateName;
  readonly to: VipStateName;
  readonly reason: string;
}

/** Where the decisions go, and what they wait for. */
export interface LifecycleOptions {
  readonly vips: readonly VipConfig[];
  /** What is bound is on this host; otherwise `bind` and `isBound` are about nothing here. */
  readonly vipBind: boolean;
  readonly times: LifecycleTimes;
  readonly clock: Clock;
  /** VIPs that a predecessor left bound and that the latch lets us keep: they are not unbound before the first decision. */
  readonly adopted: ReadonlySet<string>;
  /** Makes exactly these VIPs bound. When it rejects it is asked again; to tell why is its own matter. */
  readonly bind: (addresses: ReadonlySet<string>) => Promise<void>;
  /** Announces the VIPs so, at once. `isSettled` is false while a predecessor's announcements are still to be left alone. */
  readonly advertise: (wanted: ReadonlyMap<string, Advertisement>, isSettled: boolean) => void;
  readonly check: (vip: VipConfig) => Promise<VipCheckResult>;
  /** Makes the kernel hold off exactly this of these VIPs. When it rejects, a drain goes on without. */
  readonly hold: (holds: ReadonlyMap<string, Hold>) => Promise<void>;
  /** Resolves when the routers have worked on all that was advertised and withdrawn before. May never do so. */
  readonly movedOn: () => Promise<void>;
  /** Counts connections of clients to all VIPs, again or as of a moment ago; `undefined` when the kernel does not tell. */
  readonly clients: (isAnew: boolean) => number | undefined;
  /** How many other masters the routers have for a VIP that do not drain themselves. */
  readonly others: (vip: string) => number;
  readonly hasAdvertised: (vip: string) => boolean;
  readonly transition: (transition: Transition) => void;
  /** The check of a VIP has another outcome than the one before. */
  readonly checked?: (vip: string, result: VipCheckResult) => void;
}

/** One VIP as status shows it. */
export interface VipView {
  readonly vip: VipConfig;
  readonly state: VipStateName;
  readonly reason: string;
  readonly advertisement: Advertisement;
  readonly isBound: boolean;
  readonly check: BindCheck;
  readonly checkDetail: string;
  /** When the drain that goes on has begun, in monotonic milliseconds. */
  readonly startedAt: number | undefined;
}

/** Milliseconds between attempts to bind that the kernel refused, and between checks of a VIP that failed. */
const RETRY = 1_000;
/** Milliseconds until the first repetition of a failed check. */
const QUICK_RETRY = 200;
/** Milliseconds between looks at a certificate that lacks the name. */
const CERTIFICATE_RETRY = 5_000;
/** Milliseconds between looks at a VIP that has passed: certificates are renewed, and only warn then. */
const RECHECK = 60_000;

interface Member {
  readonly vip: VipConfig;
  state: VipState;
  reason: string;
  check: BindCheck;
  checkDetail: string;
  /** Tells an answer to a check of an earlier binding from one of this. */
  binding: number;
  isChecking: boolean;
  failures: number;
  nextCheckAt: number;
  haveMovedOn: boolean;
  /** The withdrawal that the routers are waited for. */
  awaited: number | undefined;
}

/**
 * Runs the state machine of each VIP and carries its decisions out in the safe order: a route is withdrawn before its
 * VIP is unbound, and a VIP is bound and has answered before it is advertised.
 */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #members: readonly Member[];
  #shared: SharedInput | undefined;
  #bound: ReadonlySet<string> | undefined;
  /** What the kernel has agreed to: only these are checked. */
  #applied: ReadonlySet<string>;
  #nextBindAt = 0;
  #holds = '';
  #held: ReadonlyMap<string, Hold> = new Map();
  #isSettled: boolean;
  #isClosed = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#applied = options.adopted;
    this.#isSettled = options.adopted.size === 0;
    this.#members = options.vips.map((vip) => newMember(vip, options.adopted.has(vip.address)));
  }

  /** Takes a new look at the world and acts on it. Also to be called now and then without news: time is an input. */
  update(shared: SharedInput): void {
    if (this.#isClosed) return;
    this.#shared = shared;
    for (const member of this.#members) this.#decide(member, shared);
    this.#isSettled ||= this.#members.every((member) => isDecided(member, shared));
    this.#apply(shared);
  }

  views(): readonly VipView[] {
    return this.#members.map(({ vip, state, reason, check, checkDetail }) => ({
      vip,
      state: state.name,
      reason,
      isBound: this.#options.vipBind && desiredOf(state).isBound,
      advertisement: desiredOf(state).advertisement,
      startedAt: state.name === 'draining' ? state.startedAt : undefined,
      check,
      checkDetail,
    }));
  }

  /** True once the first decision after a restart has been taken: from then on BGP follows the state. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Decides and acts no more; what is bound and advertised stays. */
  close(): void {
    this.#isClosed = true;
  }

  /** Ends the wait for a first decision: what is not decided by now is withdrawn from the routers. */
  settle(): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    if (this.#shared !== undefined) this.update(this.#shared);
  }

  #decide(member: Member, shared: SharedInput): void {
    const wasDraining = isDraining(member);
    this.#step(member, shared);
    // A drain without clients begins and comes to its end in the same moment.
    if (!wasDraining && isDraining(member)) this.#step(member, shared);
  }

  #step(member: Member, shared: SharedInput): void {
    const { hasAdvertised, others, clients, times, clock, transition } = this.#options;
    const { address } = member.vip;
    const before = member.state;
    const isDraining = before.name === 'draining';
    const input: LifecycleInput = {
      ...shared,
      bindCheck: member.check,
      bindCheckDetail: member.checkDetail,
      hasAdvertised: hasAdvertised(address),
      clients: isDraining ? clients(before.closing !== undefined) : undefined,
      others: isDraining ? others(address) : 0,
      isHeld: this.#held.get(address) === 'newcomers',
      haveMovedOn: member.haveMovedOn,
    };
    const { state, reason } = step(before, input, times, clock.now());
    member.state = state;
    member.reason = reason;
    if (state.name === 'draining' && state.withdrawnAt === undefined) member.haveMovedOn = false;
    if (state.name === before.name) return;
    transition({ vip: address, from: before.name, to: state.name, reason });
    if (desiredOf(before).isBound && !desiredOf(state).isBound) forgetCheck(member);
  }

  #apply(shared: SharedInput): void {
    const wanted = new Map(
      this.#members.map(({ vip, state }) => [vip.address, desiredOf(state).advertisement]),
    );
    this.#options.advertise(wanted, this.#isSettled);
    this.#hold();
    for (const member of this.#members) this.#awaitRouters(member);
    this.#bind(
      new Set(this.#members.flatMap(({ vip, state }) => (desiredOf(state).isBound ? [vip.address] : []))),
    );
    if (shared.bootstrap !== 'proven' || shared.readiness === 'hard') return;
    for (const member of this.#members) this.#check(member);
  }

  #hold(): void {
    const holds = new Map(this.#members.map(({ vip, state }) => [vip.address, desiredOf(state).hold]));
    const key = [...holds.values()].join();
    if (key === this.#holds) return;
    this.#holds = key;
    this.#held = new Map();
    this.#options.hold(holds).then(
      () => {
        if (this.#holds !== key) return;
        this.#held = holds;
        this.#again();
      },
      () => undefined,
    );
  }

  /** To be called after the withdrawal has been sent. */
  #awaitRouters(member: Member): void {
    const { state } = member;
    if (state.name !== 'draining' || state.withdrawnAt === undefined || member.awaited === state.withdrawnAt)
      return;
    const { withdrawnAt } = state;
    member.awaited = withdrawnAt;
    void this.#options.movedOn().then(() => {
      const now = member.state;
      if (now.name !== 'draining' || now.withdrawnAt !== withdrawnAt) return;
      member.haveMovedOn = true;
      this.#again();
    });
  }

  #bind(bound: ReadonlySet<string>): void {
    if (this.#bound !== undefined && isEqual(this.#bound, bound)) return;
    // Also when it is not yet time: what is not to be bound is not checked.
    this.#applied = new Set([...this.#applied].filter((address) => bound.has(address)));
    if (this.#options.clock.now() < this.#nextBindAt) return;
    this.#bound = bound;
    this.#options.bind(bound).then(
      () => {
        // An older request may be answered after a newer one was made.
        if (this.#bound !== bound) return;
        this.#applied = bound;
        this.#again();
      },
      () => {
        if (this.#bound === bound) this.#bound = undefined;
        this.#nextBindAt = this.#options.clock.now() + RETRY;
      },
    );
  }

  #check(member: Member): void {
    if (member.isChecking || !this.#applied.has(member.vip.address)) return;
    if (this.#options.clock.now() < member.nextCheckAt) return;
    void this.#runCheck(member);
  }

  async #runCheck(member: Member): Promise<void> {
    const { binding } = member;
    member.isChecking = true;
    const result = await this.#options
      .check(member.vip)
      .catch((error: unknown): VipCheckResult => ({ check: 'failed', detail: String(error) }));
    member.isChecking = false;
    if (member.binding !== binding) return;
    if (member.check !== result.check) this.#options.checked?.(member.vip.address, result);
    member.check = result.check;
    member.checkDetail = result.detail;
    member.failures = result.check === 'failed' ? member.failures + 1 : 0;
    member.nextCheckAt = this.#options.clock.now() + waitAfter(member);
    this.#again();
  }

  #again(): void {
    if (this.#shared !== undefined) this.update(this.#shared);
  }
}

function newMember(vip: VipConfig, isAdopted: boolean): Member {
  return {
    vip,
    state: { name: isAdopted ? 'local-only' : 'absent' },
    reason: isAdopted ? 'adopted from the speaker before this one' : 'starting',
    check: 'pending',
    checkDetail: 'the VIP has not been checked on this host yet',
    binding: 0,
    isChecking: false,
    failures: 0,
    nextCheckAt: 0,
    haveMovedOn: false,
    awaited: undefined,
  };
}

function forgetCheck(member: Member): void {
  member.binding += 1;
  member.check = 'pending';
  member.checkDetail = 'the VIP has not been checked on this host yet';
  member.failures = 0;
  member.nextCheckAt = 0;
}

function waitAfter({ check, failures }: Member): number {
  if (check === 'passed') return RECHECK;
  if (check === 'wrong-certificate') return CERTIFICATE_RETRY;
  return failures <= 3 ? QUICK_RETRY : RETRY;
}

function isDraining({ state }: Member): boolean {
  return state.name === 'draining';
}

/** The API server has been judged, and a VIP that could be advertised has been checked. */
function isDecided({ state, check }: Member, shared: SharedInput): boolean {
  if (state.name !== 'local-only' || shared.bootstrap !== 'proven') return true;
  return shared.readiness !== 'unknown' && check !== 'pending' && check !== 'failed';
}

function isEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((item) => b.has(item));
}
