import type { Clock } from '@bgp-lb/protocol/node';
import type { MemberProbe, ProbeReport } from './member-probe.ts';

/**
 * `rising` and `unclaimed` members are probed fast: the sooner it is known, the better. Of a `doubted` one it is asked
 * whether its host lives at all, which the answer to a SYN tells.
 */
type Urgency = 'normal' | 'rising' | 'unclaimed' | 'doubted';

export interface ProbeTarget {
  readonly nextHop: string;
  /** Where its API server listens, where that is not where those of the VIP do. */
  readonly port?: number;
  readonly urgency: Urgency;
}

export interface HealthCheckerOptions {
  /** Milliseconds between two probes of a member, as it is at the moment. */
  readonly interval: () => number;
  readonly clock: Clock;
  /** Makes the probe of a VIP through a member; `isDoubted`: its connection must be there within `DOUBTED_CONNECT`. */
  readonly probe: (vip: string, target: ProbeTarget, isDoubted: boolean) => MemberProbe;
  readonly onResult: (vip: string, nextHop: string, result: ProbeReport) => void;
}

/** Milliseconds between two probes of a member that is not `normal`. */
const FAST_INTERVAL = 100;

/**
 * How long the whole probe of a host that may be dead takes at most (ms): two fit into the time that it is in doubt, also where its
 * API server accepts connections and is slow.
 */
export const DOUBTED_ANSWER: number = 700;

/**
 * How long a host that may be dead has for the answer to a SYN (ms). That comes from its kernel, however busy its API
 * server is; only one that is lost on the way takes longer, and one lost is not two.
 */
export const DOUBTED_CONNECT: number = 150;

/** Probes every VIP through each of its members, each at its own pace. */
export class HealthChecker {
  #options: HealthCheckerOptions;
  /** By VIP, then by next hop. */
  #checks = new Map<string, Map<string, MemberCheck>>();

  constructor(options: HealthCheckerOptions) {
    this.#options = options;
  }

  /** The members that a VIP is to be probed through from now on. New ones are probed at once. */
  setTargets(vip: string, targets: readonly ProbeTarget[]): void {
    const checks = this.#checks.get(vip) ?? new Map<string, MemberCheck>();
    if (targets.length > 0) this.#checks.set(vip, checks);
    else this.#checks.delete(vip);
    const wanted = new Map(targets.map((target) => [target.nextHop, target]));
    for (const [nextHop, check] of checks) {
      const target = wanted.get(nextHop);
      if (target === undefined || target.port !== check.port) {
        check.close();
        checks.delete(nextHop);
      }
    }
    for (const target of targets) {
      const { nextHop, urgency } = target;
      const check = checks.get(nextHop) ?? this.#newCheck(vip, target);
      checks.set(nextHop, check);
      check.setPace(urgency === 'normal' ? this.#options.interval() : this.#fast(), urgency === 'doubted');
    }
  }

  /**
   * Probes are made in another way from now on: those that run count no more, and `setTargets` is to be called.
   * @param vip only those of one VIP
   */
  restart(vip?: string): void {
    if (vip === undefined) this.close();
    else this.setTargets(vip, []);
  }

  close(): void {
    for (const vip of [...this.#checks.keys()]) {
      this.setTargets(vip, []);
    }
  }

  #fast(): number {
    return Math.min(FAST_INTERVAL, this.#options.interval());
  }

  #newCheck(vip: string, target: ProbeTarget): MemberCheck {
    const { clock, probe, onResult } = this.#options;
    return new MemberCheck(
      target.port,
      clock,
      (isDoubted) => probe(vip, target, isDoubted),
      (result) => onResult(vip, target.nextHop, result),
    );
  }
}

/** One member's probes, never two at a time, a constant time from the start of one to the start of the next. */
class MemberCheck {
  readonly port: number | undefined;
  #clock: Clock;
  #make: (isDoubted: boolean) => MemberProbe;
  #onResult: (result: ProbeReport) => void;
  #probe: MemberProbe;
  #isDoubted = false;
  #interval: number | undefined;
  #startedAt = 0;
  #isRunning = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(
    port: number | undefined,
    clock: Clock,
    make: (isDoubted: boolean) => MemberProbe,
    onResult: (result: ProbeReport) => void,
  ) {
    this.port = port;
    this.#clock = clock;
    this.#make = make;
    this.#onResult = onResult;
    this.#probe = make(false);
  }

  setPace(interval: number, isDoubted: boolean): void {
    const isChanged = this.#isDoubted !== isDoubted;
    if (isChanged) {
      this.#replaceProbe(isDoubted);
    }
    const isFirst = this.#interval === undefined;
    if (this.#interval === interval && !isChanged) {
      return;
    }
    this.#interval = interval;
    if (isFirst || (isChanged && isDoubted)) {
      this.#run();
    } else if (!this.#isRunning) {
      this.#schedule();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
    this.#probe.close();
  }

  /** A probe that runs began under other conditions, and may wait for an answer that will not come: it counts no more. */
  #replaceProbe(isDoubted: boolean): void {
    this.#isDoubted = isDoubted;
    this.#probe.close();
    this.#probe = this.#make(isDoubted);
    this.#isRunning = false;
  }

  #schedule(): void {
    this.#cancel();
    const elapsed = this.#clock.now() - this.#startedAt;
    this.#cancel = this.#clock.after(Math.max(0, (this.#interval ?? 0) - elapsed), () => this.#run());
  }

  #run(): void {
    this.#cancel();
    this.#startedAt = this.#clock.now();
    this.#isRunning = true;
    const probe = this.#probe;
    // `probe` never rejects: every outcome is a result.
    void probe.probe().then((result) => {
      if (this.#isClosed || probe !== this.#probe) {
        return;
      }
      this.#isRunning = false;
      this.#onResult(result);
      // The result may have ended this check.
      if (!this.#isClosed) {
        this.#schedule();
      }
    });
  }
}
