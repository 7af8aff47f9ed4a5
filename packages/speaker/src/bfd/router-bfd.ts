import { isDeepStrictEqual } from 'node:util';
import { bfdTiming } from '@bgp-lb/daemon';
import {
  type BfdAuthenticationMode,
  type BfdFailureClass,
  type BfdKey,
  type BfdState,
  classifyBfdFailure,
} from '@bgp-lb/protocol';
import {
  type BfdScheduling,
  type BfdStateChange,
  type BfdStatus,
  type BfdThread,
  type BfdThreadHandlers,
  bfdAuthenticationOf,
  threadClock,
} from '@bgp-lb/protocol/node';
import type { RouterPeerConfig } from '../config/speaker-config.ts';

/** The part of `BfdThread` that is used here. */
export type BfdSessions = Pick<BfdThread, 'add' | 'remove' | 'authenticate' | 'status' | 'stop'>;

export interface RouterBfdOptions {
  readonly routers: readonly RouterPeerConfig[];
  /** By router address, the present one first. */
  readonly passwords: ReadonlyMap<string, readonly string[]>;
  /** Starts the thread. Called only when some router has BFD. */
  readonly start: (handlers: BfdThreadHandlers) => BfdSessions;
  /** The router's host, or the way to it, is dead: its BGP session is to end with Cease/BFD Down (RFC 9384). */
  readonly dead: (router: string) => void;
  /** For routers with `strict`: BGP may connect, or not while there is no session (RFC 5882 section 4.3.2). */
  readonly mayConnect: (router: string, isUp: boolean) => void;
  readonly changed: (change: BfdStateChange, found: BfdFailureClass) => void;
  readonly scheduled: (scheduling: BfdScheduling) => void;
  /** BFD as a whole, or with one router, does not work. */
  readonly failed: (what: string) => void;
  /** Milliseconds by `threadClock`. */
  readonly now?: () => number;
}

/** Milliseconds that the thread may take to answer a question. */
const ANSWER_TIME = 1_000;

/** BFD with the routers that ask for it: one session each from the start, whatever BGP does, and what it says of them. */
export class RouterBfd {
  readonly #options: RouterBfdOptions;
  /** Those that have BFD. */
  readonly #routers = new Map<string, RouterPeerConfig>();
  /** How their packets are authenticated. */
  readonly #modes = new Map<string, BfdAuthenticationMode | undefined>();
  /** What the sessions of BGP have agreed on. */
  readonly #agreed = new Map<string, BfdKey>();
  #sessions: BfdSessions | undefined;
  readonly #states = new Map<string, BfdState>();
  readonly #establishedAt = new Map<string, number>();
  readonly #now: () => number;
  #scheduling: BfdScheduling | undefined;
  #isStopping = false;

  constructor(options: RouterBfdOptions) {
    this.#options = options;
    this.#now = options.now ?? threadClock.now;
    this.setRouters(options.routers, options.passwords);
  }

  /**
   * Brings the sessions to these routers: begins and ends what differs, and leaves the others alone. A router whose session ends is
   * told AdminDown, so that it does not take the silence for our death.
   */
  setRouters(routers: readonly RouterPeerConfig[], passwords: ReadonlyMap<string, readonly string[]>): void {
    const modeOf = (router: RouterPeerConfig): BfdAuthenticationMode | undefined =>
      router.bfd === false ? undefined : bfdAuthenticationOf(router.bfd, passwords.get(router.address)?.[0]);
    const wanted = new Map(
      routers.flatMap((router) => (router.bfd === false ? [] : [[router.address, router]])),
    );
    for (const [address, router] of this.#routers) {
      const next = wanted.get(address);
      const hasSameMode = next !== undefined && isDeepStrictEqual(this.#modes.get(address), modeOf(next));
      if (hasSameMode && isSameSession(router, next)) continue;
      this.#routers.delete(address);
      this.#states.delete(address);
      this.#sessions?.remove(address);
    }
    for (const router of wanted.values()) {
      const isKnown = this.#routers.has(router.address);
      this.#routers.set(router.address, router);
      this.#modes.set(router.address, modeOf(router));
      if (!isKnown) this.#add(router);
    }
  }

  /** How the thread is scheduled; `undefined` until it runs, or without any. */
  get scheduling(): BfdScheduling | undefined {
    return this.#scheduling;
  }

  /** The state of the session with a router; `off` without one. */
  state(router: string): BfdState | 'off' {
    return this.#states.get(router) ?? 'off';
  }

  /** Whether BGP with this router has to wait for BFD now. */
  isAwaited(router: string): boolean {
    return this.#isStrict(router) && this.state(router) !== 'Up';
  }

  /** The BGP session with a router came up. */
  sessionEstablished(router: string, key: BfdKey | undefined): void {
    this.#establishedAt.set(router, this.#now());
    this.#agree(router, key);
  }

  /** The BGP session with a router ended. */
  sessionLost(router: string): void {
    this.#establishedAt.delete(router);
    this.#agree(router, undefined);
    if (this.isAwaited(router) && !this.#isStopping) this.#options.mayConnect(router, false);
  }

  #agree(router: string, key: BfdKey | undefined): void {
    const isNews = key === undefined ? this.#agreed.delete(router) : this.#agreed.set(router, key);
    if (isNews && this.#routers.has(router)) this.#sessions?.authenticate(router, key);
  }

  /** What the thread knows; `undefined` without one, or when it does not answer. */
  async status(): Promise<BfdStatus | undefined> {
    if (this.#sessions === undefined) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), ANSWER_TIME);
    });
    try {
      return await Promise.race([this.#sessions.status().catch(() => undefined), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What BFD says has no effect any more: the sessions of BGP are being closed. */
  detach(): void {
    this.#isStopping = true;
  }

  /**
   * Tells the routers AdminDown and ends the thread: from now on silence is no death. To be called when the sessions of BGP are closed:
   * FRR 8.4 takes AdminDown for death too, and would drop what it is to keep. Resolves when they know, or when they would have given up
   * anyhow.
   */
  async stop(): Promise<void> {
    this.detach();
    await this.#sessions?.stop();
    for (const router of this.#states.keys()) this.#states.set(router, 'AdminDown');
  }

  #add({ address, sourceAddress, ttlSecurityHops, bfd }: RouterPeerConfig): void {
    if (bfd === false) return;
    const { multihop = ttlSecurityHops > 1 } = bfd;
    this.#states.set(address, 'Down');
    this.#sessions ??= this.#start();
    const local = sourceAddress === undefined ? {} : { localAddress: sourceAddress };
    const authentication = this.#modes.get(address);
    this.#sessions.add({
      id: address,
      remoteAddress: address,
      multihop,
      ...(authentication !== undefined && { authentication }),
      ...local,
      ...bfdTiming(bfd, address),
    });
    const agreed = this.#agreed.get(address);
    if (agreed !== undefined) this.#sessions.authenticate(address, agreed);
  }

  #start(): BfdSessions {
    return this.#options.start({
      started: (scheduling) => {
        this.#scheduling = scheduling;
        this.#options.scheduled(scheduling);
      },
      changed: (change) => this.#changed(change),
      refused: (router, message) => this.#options.failed(`with ${router}: ${message}`),
      failed: (error) => this.#lost(error),
    });
  }

  #changed(change: BfdStateChange): void {
    const { id: router, to } = change;
    // The last words of a session that was taken back.
    if (!this.#routers.has(router)) return;
    this.#states.set(router, to);
    const found = classifyBfdFailure(change, this.#establishedAt.get(router));
    this.#options.changed(change, found);
    if (this.#isStopping) return;
    if (found === 'failure') this.#options.dead(router);
    this.#gate(router);
  }

  #isStrict(router: string): boolean {
    const bfd = this.#routers.get(router)?.bfd;
    return bfd !== undefined && bfd !== false && bfd.strict;
  }

  /** Only where BGP waits for BFD, and where there is no session that would be broken. */
  #gate(router: string): void {
    if (!this.#isStrict(router)) return;
    if (this.state(router) === 'Up') this.#options.mayConnect(router, true);
    else if (!this.#establishedAt.has(router)) this.#options.mayConnect(router, false);
  }

  /** Nothing is known of the routers any more, which is no failure of theirs. */
  #lost(error: Error): void {
    for (const router of this.#states.keys()) this.#states.set(router, 'Down');
    this.#scheduling = undefined;
    this.#options.failed(`its thread ended and is started again: ${error.message}`);
    for (const router of this.#states.keys()) this.#gate(router);
  }
}

function isSameSession(a: RouterPeerConfig, b: RouterPeerConfig | undefined): boolean {
  const settings = ({ sourceAddress, ttlSecurityHops, bfd }: RouterPeerConfig): object => ({
    ...{ sourceAddress, ttlSecurityHops, bfd },
  });
  return b !== undefined && isDeepStrictEqual(settings(a), settings(b));
}
