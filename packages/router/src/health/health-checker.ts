import type { Socket } from 'node:net';
import { HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';

/** `rising` and `unclaimed` members are probed fast: the sooner it is known, the better. */
type Urgency = 'normal' | 'rising' | 'unclaimed';

export interface ProbeTarget {
  readonly nextHop: string;
  readonly urgency: Urgency;
}

/** A running probe of one member; `HttpsProbe` is one. */
export interface MemberProbe {
  probe(): Promise<ProbeResult>;
  close(): void;
}

export interface HealthCheckerOptions {
  /** Milliseconds between two probes of a member. */
  readonly interval: number;
  readonly clock: Clock;
  /** Makes the probe of a VIP through a member. */
  readonly probe: (vip: string, nextHop: string) => MemberProbe;
  readonly onResult: (vip: string, nextHop: string, result: ProbeResult) => void;
}

/** Milliseconds between two probes of a member that is not `normal`. */
const FAST_INTERVAL = 100;

/** What an `HttpsProbe` of a VIP through a member is made of. */
export interface ThroughMember {
  readonly address: string;
  readonly port: number;
  readonly serverName: string;
  readonly path: string;
  readonly ca: () => string | undefined;
  readonly timeoutMs: number;
  /** An unconnected socket that leads to the member. */
  readonly open: () => Socket;
}

/** A probe with a new connection each time: that is what a client of this member would do. */
export function probeThrough({ open, ...target }: ThroughMember): MemberProbe {
  return new HttpsProbe({
    ...target,
    keepAlive: false,
    connect: () => open().connect({ host: target.address, port: target.port }),
  });
}

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
    this.#checks.set(vip, checks);
    const wanted = new Set(targets.map(({ nextHop }) => nextHop));
    for (const [nextHop, check] of checks) {
      if (!wanted.has(nextHop)) {
        check.close();
        checks.delete(nextHop);
      }
    }
    for (const { nextHop, urgency } of targets) {
      const check = checks.get(nextHop) ?? this.#newCheck(vip, nextHop);
      checks.set(nextHop, check);
      check.setInterval(urgency === 'normal' ? this.#options.interval : this.#fast());
    }
  }

  close(): void {
    for (const vip of this.#checks.keys()) {
      this.setTargets(vip, []);
    }
  }

  #fast(): number {
    return Math.min(FAST_INTERVAL, this.#options.interval);
  }

  #newCheck(vip: string, nextHop: string): MemberCheck {
    const { clock, probe, onResult } = this.#options;
    return new MemberCheck(clock, probe(vip, nextHop), (result) => onResult(vip, nextHop, result));
  }
}

/** One member's probes, never two at a time, a constant time from the start of one to the start of the next. */
class MemberCheck {
  #clock: Clock;
  #probe: MemberProbe;
  #onResult: (result: ProbeResult) => void;
  #interval: number | undefined;
  #startedAt = 0;
  #isRunning = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(clock: Clock, probe: MemberProbe, onResult: (result: ProbeResult) => void) {
    this.#clock = clock;
    this.#probe = probe;
    this.#onResult = onResult;
  }

  setInterval(interval: number): void {
    const isFirst = this.#interval === undefined;
    if (this.#interval === interval) {
      return;
    }
    this.#interval = interval;
    if (isFirst) {
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

  #schedule(): void {
    this.#cancel();
    const elapsed = this.#clock.now() - this.#startedAt;
    this.#cancel = this.#clock.after(Math.max(0, (this.#interval ?? 0) - elapsed), () => this.#run());
  }

  #run(): void {
    this.#startedAt = this.#clock.now();
    this.#isRunning = true;
    // `probe` never rejects: every outcome is a result.
    void this.#probe.probe().then((result) => {
      this.#isRunning = false;
      if (this.#isClosed) {
        return;
      }
      this.#onResult(result);
      // The result may have ended this check.
      if (!this.#isClosed) {
        this.#schedule();
      }
    });
  }
}
