import { isDeepStrictEqual } from 'node:util';
import { bfdTiming } from '@bgp-lb/daemon';
import type { BfdKey, BfdState } from '@bgp-lb/protocol';
import {
  type BfdScheduling,
  type BfdStateChange,
  type BfdStatus,
  type BfdThread,
  type BfdThreadHandlers,
  type BfdTiming,
  bfdAuthenticationOf,
} from '@bgp-lb/protocol/node';
import { planNeighbors } from '../config/neighbor-changes.ts';
import type { NeighborConfig, RouterConfig } from '../config/router-config.ts';
import type { HostDeaths } from '../membership/membership-source.ts';
import { type BfdFailure, explainBfdFailure } from './bfd-failure.ts';

export interface NeighborBfdOptions {
  readonly neighbors: readonly NeighborConfig[];
  /** The password of a neighbor by its name, at the moment. */
  readonly passwordOf: (name: string) => string | undefined;
  /** What the session of BGP with a neighbor has agreed on. */
  readonly agreedKey: (address: string) => BfdKey | undefined;
  /** Makes the thread. */
  readonly start: (handlers: BfdThreadHandlers) => Pick<BfdThread, keyof BfdThread>;
  /** True while BGP has a session with the neighbor, at this moment. */
  readonly isEstablished: (address: string) => boolean;
  readonly dead: (deaths: HostDeaths) => void;
  /** A neighbor that must have BFD has it now, or not. */
  readonly required: (address: string, neighbor: NeighborConfig, isUp: boolean) => void;
  /** A session changed its state; `failure` where it is a failure. */
  readonly changed: (
    change: BfdStateChange,
    neighbor: NeighborConfig,
    failure: BfdFailure | undefined,
  ) => void;
  readonly scheduled: (scheduling: BfdScheduling) => void;
  /** Something that cannot be had, in one sentence. */
  readonly problem: (text: string) => void;
  /** By how much this process was late in the last moments (ms). */
  readonly lateness: () => number;
  /** The shortest time (ms) within which a neighbor misses us is another one now; `undefined`: there is no session. */
  readonly missedWithin: (detectionTime: number | undefined) => void;
  /** Runs something after all input that waits in our sockets was read: `setImmediate`. */
  readonly afterReading: (run: () => void) => void;
  /** `threadClock.now`. */
  readonly now: () => number;
}

/** The state of a session, and since when by `threadClock`. */
export interface KnownBfdState {
  readonly state: BfdState;
  readonly since: number;
}

/** How long a neighbor may take to say that BFD is down because we told it so (ms). */
const ECHO = 1000;
/** States that are remembered of neighbors that are gone. */
const MAX_REMEMBERED = 1024;

/** The BFD sessions with the neighbors of BGP, and what their changes mean. */
export class NeighborBfd {
  readonly #options: NeighborBfdOptions;
  #neighbors: readonly NeighborConfig[];
  readonly #thread: Pick<BfdThread, keyof BfdThread>;
  /** The sessions that there are. */
  readonly #sessions = new Map<string, NeighborConfig>();
  /** Neighbors whose present session of BGP has agreed on a key. */
  readonly #agreed = new Set<string>();
  /** The passwords that are keys of sessions. */
  readonly #keys = new Map<string, string>();
  /** Also of neighbors that are gone: what BFD last knew of them is worth showing. */
  readonly #states = new Map<string, KnownBfdState>();
  /** Until then a silence may be our own thread's lateness (`threadClock`). */
  #lateUntil = Number.NEGATIVE_INFINITY;
  /** Neighbors whose failure is in doubt, and until when what they say of us is so too (`threadClock`). */
  readonly #doubtedUntil = new Map<string, number>();
  /** When the newest BGP session with a neighbor came up (`threadClock`). */
  readonly #establishedAt = new Map<string, number>();
  #failures: { readonly change: BfdStateChange; readonly neighbor: NeighborConfig }[] = [];

  constructor(options: NeighborBfdOptions) {
    this.#options = options;
    this.#neighbors = options.neighbors;
    this.#thread = options.start({
      started: (scheduling) => options.scheduled(scheduling),
      changed: (change) => this.#changed(change),
      refused: (_, message) => options.problem(message),
      failed: (error) => this.#failed(error),
    });
  }

  /** How the thread is scheduled; `undefined` while there is none. */
  get scheduling(): BfdScheduling | undefined {
    return this.#thread.scheduling;
  }

  /** Begins with the neighbors whose address is known. */
  start(): void {
    this.#startWith(this.#neighbors);
  }

  /**
   * Ends the sessions with neighbors that are none any more, begins with those that are new, and gives those that stay another
   * timing where it differs: a session that is Up stays so (RFC 5880 section 6.8.3).
   */
  configure({ neighbors }: Pick<RouterConfig, 'neighbors'>): void {
    const { removed, changed, added, updated } = planNeighbors(this.#neighbors, neighbors);
    this.#neighbors = neighbors;
    for (const neighbor of updated) {
      this.#retime(neighbor);
    }
    const gone = new Set([...removed, ...changed.map(({ from }) => from)].map(({ name }) => name));
    for (const [address, neighbor] of this.#sessions) {
      const { name } = neighbor;
      if (gone.has(name)) {
        // Nothing waits for it any more.
        this.#options.required(address, neighbor, true);
        this.forget(address);
      }
    }
    this.#startWith([...added, ...changed.map(({ to }) => to)]);
    this.#takeKeys();
  }

  /** A session whose key is another one is replaced: it ends by AdminDown, which is no failure, and the new one is Down until the other end has the key too. */
  #takeKeys(): void {
    for (const [address, neighbor] of [...this.#sessions]) {
      const key = this.#keys.get(address);
      if (key === undefined || key === this.#options.passwordOf(neighbor.name)) continue;
      this.#sessions.delete(address);
      this.#thread.remove(address);
      this.#add(address, neighbor, undefined);
    }
  }

  #retime(neighbor: NeighborConfig): void {
    const { name } = neighbor;
    const own = [...this.#sessions].filter(([, before]) => before.name === name);
    for (const [address, before] of own) {
      this.#sessions.set(address, neighbor);
      const timing = timingOf(neighbor, address);
      if (timing !== undefined && !isDeepStrictEqual(timing, timingOf(before, address))) {
        this.#thread.change(address, timing);
      }
    }
    this.#tellDetection();
  }

  /** At the other end it is no shorter than what we offer to send by (RFC 5880 section 6.8.4). */
  #tellDetection(): void {
    const times = [...this.#sessions].flatMap(([address, neighbor]) => {
      const timing = timingOf(neighbor, address);
      return timing === undefined ? [] : [timing.transmitInterval * timing.detectMultiplier];
    });
    this.#options.missedWithin(times.length === 0 ? undefined : Math.min(...times));
  }

  #startWith(neighbors: readonly NeighborConfig[]): void {
    for (const neighbor of neighbors) {
      if (neighbor.address !== undefined) {
        this.#add(neighbor.address, neighbor, undefined);
      }
    }
  }

  /** A session of BGP is there: with one of a range, BFD begins now. */
  sessionEstablished(address: string, neighbor: NeighborConfig, localAddress: string | undefined): void {
    this.#establishedAt.set(address, this.#options.now());
    if (isStrict(neighbor) && this.#states.get(address)?.state !== 'Up') {
      this.#options.required(address, neighbor, false);
    }
    this.#add(address, neighbor, localAddress);
    this.#agree(address, this.#options.agreedKey(address));
  }

  /** The session of BGP with a neighbor is gone, and with it what was agreed on in it. */
  sessionLost(address: string): void {
    this.#agree(address, undefined);
  }

  #agree(address: string, key: BfdKey | undefined): void {
    const isNews = key === undefined ? this.#agreed.delete(address) : this.#agreed.add(address);
    if (isNews && this.#sessions.has(address)) this.#thread.authenticate(address, key);
  }

  /** A neighbor of a range is gone. */
  forget(address: string): void {
    this.#establishedAt.delete(address);
    this.#keys.delete(address);
    if (this.#sessions.delete(address)) {
      this.#thread.remove(address);
      this.#tellDetection();
    }
  }

  /** What BFD last knew of a neighbor; `undefined` when there was never a session. */
  stateOf(address: string): KnownBfdState | undefined {
    return this.#states.get(address);
  }

  /**
   * Whether a failure of this neighbor, a moment ago, may have been our own deafness. We told it that we do not hear it:
   * that it takes us for dead then, is the same failure once more.
   */
  isDoubted(address: string): boolean {
    return this.#options.now() <= (this.#doubtedUntil.get(address) ?? Number.NEGATIVE_INFINITY);
  }

  /** Everything about the sessions; `undefined` while the thread is dead. */
  async status(): Promise<BfdStatus | undefined> {
    return this.#thread.status().catch(() => undefined);
  }

  /** Resolves when the thread has answered, and rejects while it is dead; where no neighbor has BFD there is none to ask. */
  async checkAnswers(): Promise<void> {
    await this.#thread.status();
  }

  /** What BFD says has no effect any more: the sessions of BGP are being closed. */
  detach(): void {
    this.#sessions.clear();
    this.#tellDetection();
  }

  /**
   * Ends all sessions by AdminDown, so that no neighbor takes it for death. To be called when those of BGP are closed: FRR 8.4 takes
   * AdminDown for death too, and would drop what it is to keep.
   */
  stop(): Promise<void> {
    this.detach();
    return this.#thread.stop();
  }

  #add(address: string, neighbor: NeighborConfig, localAddress: string | undefined): void {
    const { bfd, ttlSecurityHops } = neighbor;
    if (bfd === false || this.#sessions.has(address)) {
      return;
    }
    this.#sessions.set(address, neighbor);
    this.#tellDetection();
    this.#remember(address, 'Down', this.#options.now());
    if (bfd.strict) {
      this.#options.required(address, neighbor, false);
    }
    const password = this.#options.passwordOf(neighbor.name);
    const authentication = bfdAuthenticationOf(bfd, password);
    if (authentication?.mode === 'required' && password !== undefined) this.#keys.set(address, password);
    else this.#keys.delete(address);
    this.#thread.add({
      id: address,
      remoteAddress: address,
      ...(localAddress !== undefined && { localAddress }),
      multihop: bfd.multihop ?? ttlSecurityHops > 1,
      ...bfdTiming(bfd, address),
      ...(authentication !== undefined && { authentication }),
    });
  }

  #changed(change: BfdStateChange): void {
    const { id, to, at, isFailure } = change;
    const neighbor = this.#sessions.get(id);
    if (neighbor === undefined) {
      // The farewell of a session that was removed.
      return;
    }
    this.#remember(id, to, at);
    if (!isFailure) {
      if (to === 'Up' && isStrict(neighbor)) {
        this.#options.required(id, neighbor, true);
      }
      this.#options.changed(change, neighbor, undefined);
      return;
    }
    if (change.areOthersSilent || change.timerDelay >= (change.detectionTime ?? 0) / 4) {
      this.#doubt(id, at + ECHO);
    }
    this.#failures.push({ change, neighbor });
    if (this.#failures.length === 1) {
      // The end of the neighbor's TCP may wait in our socket, unread: it says that only a process died.
      this.#options.afterReading(() => this.#judgeFailures());
    }
  }

  #judgeFailures(): void {
    const judged = this.#failures.map(({ change, neighbor }) => ({
      change,
      neighbor,
      failure: explainBfdFailure(change, {
        isEstablished: this.#options.isEstablished(change.id),
        establishedAt: this.#establishedAt.get(change.id),
        isHeardAgain: this.#isHeardSince(change),
      }),
    }));
    this.#failures = [];
    const dead = judged.filter(({ failure }) => failure.died === 'host').map(({ change }) => change);
    if (dead.length > 0) {
      const window = Math.max(
        ...dead.map(({ detectionTime = 0, timerDelay }) => detectionTime + Math.max(0, timerDelay)),
      );
      // First of all: every millisecond here is one in which packets go to a dead host.
      this.#options.dead({
        addresses: [...new Set(dead.map(({ id }) => id))],
        doubtful: new Set(dead.filter((change) => this.#isDoubtful(change)).map(({ id }) => id)),
        window,
      });
    }
    for (const { change, neighbor, failure } of judged) {
      // By now it may be Up again, and its owner have been told so.
      const isUp = this.#states.get(change.id)?.state === 'Up';
      if (failure.died !== 'nothing' && isStrict(neighbor) && !isUp) {
        this.#options.required(change.id, neighbor, false);
      }
      this.#options.changed(change, neighbor, failure);
    }
  }

  /** Outlives the session: one that ends by what the neighbor says is forgotten before that is judged. */
  #doubt(address: string, until: number): void {
    for (const [known, end] of this.#doubtedUntil) {
      if (this.#options.now() > end) {
        this.#doubtedUntil.delete(known);
      }
    }
    this.#doubtedUntil.set(address, until);
  }

  /** A host that speaks is not dead: whether its session has come back since this change. */
  #isHeardSince({ id, at }: BfdStateChange): boolean {
    const known = this.#states.get(id);
    return known !== undefined && known.since >= at && (known.state === 'Init' || known.state === 'Up');
  }

  /**
   * A silence is explained by a thread of BFD that was late, now or less than a Detection Time ago, or by no neighbor being
   * heard at all; what a neighbor says of us by a process that was late. The main thread alone may be busy as long as
   * it likes: it hears no packets.
   */
  #isDoubtful({ reason, at, timerDelay, detectionTime = 0, areOthersSilent }: BfdStateChange): boolean {
    if (reason !== 'detection-expired') {
      return this.#options.lateness() >= detectionTime / 2;
    }
    if (areOthersSilent) {
      return true;
    }
    if (timerDelay >= detectionTime / 4) {
      this.#lateUntil = at + detectionTime;
    }
    return at <= this.#lateUntil;
  }

  /** The thread died, and all sessions begin again: nothing is known, and no neighbor has failed. */
  #failed(error: Error): void {
    for (const address of this.#sessions.keys()) {
      this.#remember(address, 'Down', this.#options.now());
    }
    this.#options.problem(`BFD is not running, and is started again: ${error.message}`);
  }

  #remember(address: string, state: BfdState, since: number): void {
    this.#states.delete(address);
    this.#states.set(address, { state, since });
    if (this.#states.size > MAX_REMEMBERED) {
      const oldest = [...this.#states.keys()].find((known) => !this.#sessions.has(known));
      if (oldest !== undefined) {
        this.#states.delete(oldest);
      }
    }
  }
}

function isStrict({ bfd }: NeighborConfig): boolean {
  return bfd !== false && bfd.strict;
}

/** With this address of the neighbor; `undefined` where it has no BFD. */
function timingOf({ bfd }: NeighborConfig, address: string): BfdTiming | undefined {
  return bfd === false ? undefined : bfdTiming(bfd, address);
}
