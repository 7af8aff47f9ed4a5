import type { Socket } from 'node:net';
import { HttpsProbe, type ProbeResult } from '@bgp-lb/daemon';
import type { Clock } from '@bgp-lb/protocol/node';

/**
 * `rising` and `unclaimed` members are probed fast: the sooner it is known, the better. Of a `doubted` one it is asked
 * whether its host lives at all, which the answer to a SYN tells.
 */
type Urgency = 'normal' | 'rising' | 'unclaimed' | 'doubted';

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
  /** Milliseconds between two probes of a member, as it is at the moment. */
  readonly interval: () => number;
  readonly clock: Clock;
  /** Makes the probe of a VIP through a member; `isDoubted`: its connection must be there within `DOUBTED_CONNECT`. */
  readonly probe: (vip: string, nextHop: string, isDoubted: boolean) => MemberProbe;
  readonly onResult: (vip: string, nextHop: string, result: ProbeResult) => void;
}

/** Milliseconds between two probes of a member that is not `normal`. */
const FAST_INTERVAL = 100;

/**
 * How long a host that may be dead has for the answer to a SYN (ms). That comes from its kernel, however busy its API
 * server is; only one that is lost on the way takes longer, and one lost is not two.
 */
export const DOUBTED_CONNECT: number = 150;

/** What an `HttpsProbe` of a VIP through a member is made of. */
export interface ThroughMember {
  readonly address: string;
  readonly port: number;
  readonly serverName: string;
  readonly path: string;
  readonly ca: () => string | undefined;
  readonly timeoutMs: number;
  /** How long the connection may take to be there; undefined: as long as the probe. */
  readonly connectTimeoutMs?: number | undefined;
  /** An unconnected socket that leads to the member. */
  readonly open: () => Socket;
}

/** A probe with a new connection each time: that is what a client of this member would do. */
export function probeThrough({ open, connectTimeoutMs, ...target }: ThroughMember): MemberProbe {
  return new HttpsProbe({
    ...target,
    keepAlive: false,
    connect: () => {
      const socket = open().connect({ host: target.address, port: target.port });
      if (connectTimeoutMs !== undefined) {
        limitConnecting(socket, connectTimeoutMs);
      }
      return socket;
    },
  });
}

function limitConnecting(socket: Socket, limit: number): void {
  const timer = setTimeout(() => {
    // After a stall of ours the connection may be there and not read yet: timers come before that in a turn.
    setImmediate(() => {
      if (socket.connecting) {
        socket.destroy(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }));
      }
    });
  }, limit);
  const clear = (): void => clearTimeout(timer);
  socket.once('connect', clear).once('close', clear);
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
    if (targets.length > 0) this.#checks.set(vip, checks);
    else this.#checks.delete(vip);
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

  #newCheck(vip: string, nextHop: string): MemberCheck {
    const { clock, probe, onResult } = this.#options;
    return new MemberCheck(
      clock,
      (isDoubted) => probe(vip, nextHop, isDoubted),
      (result) => onResult(vip, nextHop, result),
    );
  }
}

/** One member's probes, never two at a time, a constant time from the start of one to the start of the next. */
class MemberCheck {
  #clock: Clock;
  #make: (isDoubted: boolean) => MemberProbe;
  #onResult: (result: ProbeResult) => void;
  #probe: MemberProbe;
  #isDoubted = false;
  #interval: number | undefined;
  #startedAt = 0;
  #isRunning = false;
  #isClosed = false;
  #cancel: () => void = () => undefined;

  constructor(
    clock: Clock,
    make: (isDoubted: boolean) => MemberProbe,
    onResult: (result: ProbeResult) => void,
  ) {
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
