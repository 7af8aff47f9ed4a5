import { randomInt } from 'node:crypto';
import { type BfdDiscardReason, type BfdKey, canonicalScoped, ipVersion } from '../index.ts';
import { threadClock } from './bfd-clock.ts';
import { type BfdPath, BfdReceivers, type DeliverBfdPacket } from './bfd-receivers.ts';
import { BfdSessionDriver } from './bfd-session-driver.ts';
import type { BfdSockets } from './bfd-sockets.ts';
import type { BfdSessionOptions, BfdStateChange, BfdStatus, BfdTiming } from './bfd-status.ts';
import { BfdTimer } from './bfd-timer.ts';
import type { Clock } from './clock.ts';

/** What the owner of an engine hears. Called synchronously: throw nothing. */
export interface BfdEngineHandlers {
  changed(change: BfdStateChange): void;
  /** The session is gone, and its name may be used again. */
  removed(id: string): void;
}

export interface BfdEngineOptions {
  readonly sockets: BfdSockets;
  readonly handlers: BfdEngineHandlers;
  /** `threadClock` by default. */
  readonly clock?: Clock;
  /** In [0, 1), for jitter. */
  readonly random?: () => number;
  /** 1 to 4294967295; drawn again when it is taken. Unpredictable by default (RFC 5880 section 6.8.1). */
  readonly discriminator?: () => number;
}

/** Sessions at most: each costs a descriptor and up to some 100 packets a second. */
const maxSessions = 1024;

/** The longest that `remove` waits for the peer, in ms. */
const longestFarewell = 3000;

/** A session that is being taken down: it ends when the peer has confirmed AdminDown, or when it must have given up. */
interface Leaving {
  readonly cancel: () => void;
}

/**
 * BFD sessions over UDP (RFC 5881, and RFC 5883 for neighbors further away): receives for all of them, gives each
 * packet to its session, and runs their timers. Put it into a thread of its own: `runBfdWorker`.
 */
export class BfdEngine {
  readonly #options: Required<BfdEngineOptions>;
  readonly #receivers: BfdReceivers;
  readonly #timer: BfdTimer;
  readonly #byId = new Map<string, BfdSessionDriver>();
  readonly #byDiscriminator = new Map<number, BfdSessionDriver>();
  readonly #byPeer = new Map<string, BfdSessionDriver>();
  readonly #leaving = new Map<BfdSessionDriver, Leaving>();
  /** Sessions that were lost by silence, also those that are gone since, and until when that counts (monotonic ms). */
  readonly #lostUntil = new Map<string, number>();
  #whenEmpty: (() => void)[] = [];

  constructor(options: BfdEngineOptions) {
    this.#options = {
      clock: threadClock,
      random: Math.random,
      discriminator: () => randomInt(1, 0x1_0000_0000),
      ...options,
    };
    this.#timer = new BfdTimer(this.#options.clock, this.#options.random);
    this.#receivers = new BfdReceivers(options.sockets, this.#options.clock, (...received) =>
      this.#deliver(...received),
    );
  }

  /**
   * Begins a session. One that is being removed and has the same name or neighbor ends at once.
   * @throws RangeError for intervals or an address that cannot be, a name or neighbor that has a session, or too many
   */
  add(options: BfdSessionOptions): void {
    const path = pathOf(options);
    const peer = peerKey(options.remoteAddress, path);
    for (const former of [this.#byId.get(options.id), this.#byPeer.get(peer)]) {
      if (former !== undefined && this.#leaving.has(former)) this.#end(former);
    }
    if (this.#byId.has(options.id)) throw new RangeError(`BFD session ${options.id}: exists already`);
    const other = this.#byPeer.get(peer);
    if (other !== undefined) {
      throw new RangeError(
        `BFD session ${options.id}: ${options.remoteAddress} has the session ${other.options.id}`,
      );
    }
    if (this.#byId.size >= maxSessions) {
      throw new RangeError(
        `BFD session ${options.id}: there are ${maxSessions} sessions, more are not allowed`,
      );
    }
    const driver = this.#driver(options);
    this.#byId.set(options.id, driver);
    this.#byDiscriminator.set(driver.discriminator, driver);
    this.#byPeer.set(peer, driver);
    this.#openReceivers();
    driver.start();
    this.#timer.add(driver);
  }

  /**
   * Ends a session so that the peer does not take it for death (RFC 5880 section 6.8.16): it is told AdminDown, and
   * `removed` comes when it has confirmed that, or after the time in which it would have given up anyhow.
   * Nothing happens for a name that is not there.
   */
  remove(id: string): void {
    const driver = this.#byId.get(id);
    if (driver === undefined || this.#leaving.has(driver)) return;
    // Taken before: in AdminDown the intervals are slow ones, of which the peer knows nothing yet.
    const limit = Math.min(driver.remoteDetectionTime, longestFarewell);
    const isKnown = driver.state === 'Up' || driver.state === 'Init';
    const cancel = this.#options.clock.after(limit, () => this.#end(driver));
    this.#leaving.set(driver, { cancel });
    driver.setAdminDown(true);
    if (!isKnown || !driver.isPolling) this.#end(driver);
  }

  /** Changes the intervals of a session, without an interruption. @throws RangeError */
  change(id: string, timing: BfdTiming): void {
    this.#running(id).change(timing);
  }

  /** Both ends have agreed on a key, or what they agreed on has ended: `agreeOnKey`. @throws RangeError */
  authenticate(id: string, key: BfdKey | undefined): void {
    this.#running(id).authenticate(key);
  }

  /** Holds a session in AdminDown, or lets it begin again. @throws RangeError for a name that is not there */
  setAdminDown(id: string, isDown: boolean): void {
    this.#running(id).setAdminDown(isDown);
  }

  status(): BfdStatus {
    return {
      at: this.#options.clock.now(),
      sessions: [...this.#byId.values()].map((driver) => driver.status()),
      receive: this.#receivers.status(),
    };
  }

  /** Removes all sessions; resolves when the last one is gone. */
  stop(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#whenEmpty.push(resolve);
    });
    for (const id of [...this.#byId.keys()]) this.remove(id);
    this.#tellWhenEmpty();
    return stopped;
  }

  #running(id: string): BfdSessionDriver {
    const driver = this.#byId.get(id);
    if (driver === undefined || this.#leaving.has(driver)) {
      throw new RangeError(`BFD session ${id}: does not exist`);
    }
    return driver;
  }

  #driver(options: BfdSessionOptions): BfdSessionDriver {
    const { sockets, clock, handlers } = this.#options;
    return new BfdSessionDriver(options, this.#newDiscriminator(), {
      sockets,
      clock,
      random: () => this.#timer.random(),
      expectAt: (at) => this.#timer.expectAt(at),
      changed: (change) => {
        this.#rememberSilence(change);
        handlers.changed(change);
      },
      areOthersSilent: (now) => this.#areOthersSilent(options.id, now),
      afterReading: (proceed) => this.#receivers.afterReading(proceed),
    });
  }

  #areOthersSilent(id: string, now: number): boolean {
    const others = [...this.#byId.values()]
      .filter(({ options }) => options.id !== id)
      .map((driver) => driver.isHeard(now))
      .filter((isHeard) => isHeard !== undefined);
    const isOneLost = [...this.#lostUntil].some(([lost, until]) => lost !== id && now <= until);
    return !others.includes(true) && (others.length > 0 || isOneLost);
  }

  #rememberSilence({ id, reason, from, at, detectionTime = 0 }: BfdStateChange): void {
    if (reason !== 'detection-expired' || from !== 'Up') return;
    for (const [lost, until] of this.#lostUntil) {
      if (at > until) this.#lostUntil.delete(lost);
    }
    this.#lostUntil.set(id, at + detectionTime);
  }

  #newDiscriminator(): number {
    for (;;) {
      const drawn = this.#options.discriminator();
      if (!this.#byDiscriminator.has(drawn)) return drawn;
    }
  }

  /** RFC 5880 section 6.8.6: by Your Discriminator, or by the neighbor where it is 0. */
  #deliver(...[packet, payload, source, path]: Parameters<DeliverBfdPacket>): BfdDiscardReason | undefined {
    const driver =
      packet.yourDiscriminator === 0
        ? this.#byPeer.get(peerKey(source(), path))
        : this.#byDiscriminator.get(packet.yourDiscriminator);
    // Only single hop packets had their TTL checked: none of the others may speak to a single hop session.
    if (driver === undefined || (driver.options.multihop === true) !== path.multihop) return 'no-session';
    if (!driver.receive(packet, payload)) return 'authentication';
    if (this.#leaving.has(driver) && !driver.isPolling) this.#end(driver);
    return undefined;
  }

  #end(driver: BfdSessionDriver): void {
    this.#leaving.get(driver)?.cancel();
    if (!this.#leaving.delete(driver)) return;
    driver.close();
    this.#timer.delete(driver);
    this.#byId.delete(driver.options.id);
    this.#byDiscriminator.delete(driver.discriminator);
    this.#byPeer.delete(peerKey(driver.options.remoteAddress, pathOf(driver.options)));
    this.#openReceivers();
    this.#options.handlers.removed(driver.options.id);
    this.#tellWhenEmpty();
  }

  #openReceivers(): void {
    this.#receivers.need([...this.#byId.values()].map(({ options }) => pathOf(options)));
  }

  #tellWhenEmpty(): void {
    if (this.#byId.size > 0) return;
    const waiting = this.#whenEmpty;
    this.#whenEmpty = [];
    for (const resolve of waiting) resolve();
  }
}

function pathOf({ remoteAddress, multihop }: BfdSessionOptions): BfdPath {
  return { version: ipVersion(remoteAddress), multihop: multihop === true };
}

/** The neighbor's address in one spelling, with its zone, and the kind of path. @throws RangeError naming the address */
function peerKey(address: string, { multihop }: BfdPath): string {
  return `${multihop ? 'multihop ' : ''}${canonicalScoped(address)}`;
}
