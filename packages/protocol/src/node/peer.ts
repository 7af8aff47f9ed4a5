import type { Socket } from 'node:net';
import {
  type AdjRibIn,
  type Asn,
  type AttributeTable,
  CeaseSubcode,
  type Family,
  familyOf,
  type GroupMember,
  localOpen,
  type Negotiated,
  type Oscillation,
  type Path,
  type Route,
  type RouteChange,
  type RouteId,
  RouteRefreshSubtype,
  type RouterId,
  type SessionEnd,
  type StateName,
} from '../index.ts';
import { cease } from './cease.ts';
import type { Clock } from './clock.ts';
import type { Traffic } from './connection.ts';
import type { Deadlines } from './deadlines.ts';
import { describeEnd } from './describe.ts';
import { canonicalAddress } from './neighbors.ts';
import type { DownReason, PeerEvent } from './peer-event.ts';
import { PeerPaths } from './peer-paths.ts';
import { offerOf, type ResolvedSettings } from './peer-settings.ts';
import { agoAt, negotiatedStatus, type PeerStatus } from './peer-status.ts';
import { RouteSender } from './route-sender.ts';
import { Session } from './session.ts';
import type { Sockets } from './sockets.ts';
import { TransitionLog } from './transition-log.ts';

/** What a peer tells its speaker. */
export interface PeerCallbacks {
  established(negotiated: Negotiated): void;
  down(reason: DownReason): void;
  /** Without it nothing is told of what UPDATEs change. */
  readonly hearsRoutes: boolean;
  routes(change: RouteChange): void;
  endOfRib(family: Family): void;
  refreshed(family: Family): void;
  event(event: PeerEvent): void;
  readonly traffic: ((traffic: Traffic) => void) | undefined;
  /** Something has changed; the speaker looks whether the peer is still wanted. */
  settled(): void;
}

export interface PeerContext {
  readonly asn: Asn;
  readonly routerId: RouterId;
  readonly clusterId: RouterId | undefined;
  readonly sockets: Sockets;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly random: () => number;
  readonly table: AttributeTable;
}

export interface PeerIdentity {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly passive: boolean;
  /** The range that it is a member of. */
  readonly range: string | undefined;
  /** Outlives the peer, for members of a range. */
  readonly oscillation: Oscillation | undefined;
}

/** One neighbor: its session, the paths that it announces, and the routes that it is to have. Made by `BgpSpeaker`. */
export class Peer {
  readonly name: string;
  readonly address: string;
  /** The range that it is a member of; `undefined` for a configured peer. */
  readonly range: string | undefined;
  readonly #identity: PeerIdentity;
  readonly #settings: ResolvedSettings;
  readonly #context: PeerContext;
  readonly #callbacks: PeerCallbacks;
  readonly #session: Session;
  readonly #paths: PeerPaths;
  readonly #sender: RouteSender;
  readonly #transitions = new TransitionLog();
  #state: StateName = 'Idle';
  #since: number;
  #establishedAt: number | undefined;
  #establishedCount = 0;
  /** Ends the wait for our own first routes after our restart. */
  #cancelWait: () => void = () => undefined;
  #lastDown: { readonly kind: DownReason['kind']; readonly text: string; readonly at: number } | undefined;

  constructor(
    identity: PeerIdentity,
    settings: ResolvedSettings,
    context: PeerContext,
    callbacks: PeerCallbacks,
  ) {
    this.name = identity.name;
    this.address = identity.address;
    this.range = identity.range;
    this.#identity = identity;
    this.#settings = settings;
    this.#context = context;
    this.#callbacks = callbacks;
    this.#since = context.clock.now();
    const restarting = settings.gracefulRestart?.restarting === true;
    this.#session = this.#newSession();
    this.#paths = new PeerPaths({
      name: identity.name,
      address: canonicalAddress(identity.address),
      settings,
      context,
      isTold: callbacks.hearsRoutes,
      changed: (change) => callbacks.routes(change),
      endOfRib: (family) => callbacks.endOfRib(family),
      event: (event) => callbacks.event(event),
    });
    this.#sender = new RouteSender(context.table, this.#session, restarting);
  }

  /** The state of RFC 4271 section 8.2.2, of the connection that has come further when there are two. */
  get state(): StateName {
    return this.#session.state;
  }

  /** The peer is in our AS; before its OPEN, whether it is configured to be. */
  get isInternal(): boolean {
    const negotiated = this.#session.negotiated;
    if (negotiated !== undefined) return negotiated.context.isInternal;
    const { remoteAsn } = this.#settings;
    return remoteAsn !== 'external' && remoteAsn.every((each) => each === this.#context.asn);
  }

  /** What the peer has announced; `undefined` before its first session. */
  get adjRibIn(): AdjRibIn | undefined {
    return this.#paths.adjRibIn;
  }

  /** What the established session agreed on. */
  get negotiated(): Negotiated | undefined {
    return this.#session.negotiated;
  }

  /** Nothing goes on with it: no connection, no hold, no stale path. */
  get isQuiet(): boolean {
    return !this.#session.isConnected && !this.#session.isHeld && !this.#paths.hasStale;
  }

  /** The paths that the peer has announced and import policy took, stale ones included. */
  paths(): readonly Path[] {
    return this.#paths.paths();
  }

  /**
   * Says which routes the peer is to have, all of one family; the difference goes out at once when the session is
   * established, and everything when it comes up.
   * @throws RangeError for a route of another family, or given twice
   */
  setRoutes(family: Family, routes: readonly Route[]): void {
    this.#sender.set(family, routes);
  }

  /**
   * Changes some of the routes that the peer is to have: takes away, then adds or replaces. It costs what the change costs.
   * @throws RangeError for a route of another family
   */
  changeRoutes(family: Family, announced: readonly Route[], withdrawn: readonly RouteId[]): void {
    this.#sender.change(family, announced, withdrawn);
  }

  /** To be called when the session is established: its routes of a family are those of a group; `setRoutes` counts afterwards. */
  follow(member: GroupMember): void {
    this.#sender.follow(member);
  }

  /** A group that the peer is a member of has something for it. */
  sendNews(): void {
    this.#sender.pump();
  }

  /** The routes that the peer has been sent. */
  advertised(): readonly Route[] {
    return [...this.#sender.advertised()];
  }

  /** Starts the session, or tries again after `stop`. */
  start(): void {
    this.#session.start();
  }

  /**
   * Ends the session and keeps it down until `start`.
   * @param options.subcode of Cease; default Administrative Shutdown
   * @param options.text for the peer's operator, cut to 255 octets (RFC 9003)
   */
  stop(options: { readonly subcode?: number; readonly text?: string } = {}): void {
    this.#session.stop(cease(options.subcode ?? CeaseSubcode.AdministrativeShutdown, options.text));
    // Nothing waits for it any more.
    this.#paths.dropStale();
  }

  /** Closes TCP without a NOTIFICATION and stays down: peers with graceful restart keep our routes (RFC 4724). */
  stopSilently(): void {
    this.#session.stop(undefined);
  }

  /** Ends the session with Cease/Administrative Reset and starts it again. */
  reset(text?: string): void {
    this.#session.reset(cease(CeaseSubcode.AdministrativeReset, text));
  }

  /** BFD says that the peer is dead: ends the session with Cease/BFD Down (RFC 9384), keeps none of its paths, and starts it again. */
  bfdDown(): void {
    this.#session.reset(cease(CeaseSubcode.BfdDown));
    this.#paths.dropStale();
  }

  /** Asks the peer for all its routes again (RFC 2918 section 3); nothing happens when it cannot do that, or is not established. */
  requestRefresh(family: Family): void {
    const negotiated = this.#session.negotiated;
    if (negotiated?.routeRefresh !== true || !negotiated.context.families.includes(family)) return;
    this.#session.send({ type: 'ROUTE-REFRESH', afi: family.afi, safi: family.safi, subtype: 0 });
  }

  /** The import policy decides otherwise than before: paths that it takes no more go. Those that it takes now, `requestRefresh` brings. */
  reapplyImportPolicy(): void {
    this.#paths.reapplyPolicy();
  }

  /** Removes the paths that are kept from before the peer's restart. */
  dropStale(): void {
    this.#paths.dropStale();
  }

  /** Resolves when no socket of the peer is left. */
  gone(): Promise<void> {
    return this.#session.gone();
  }

  /** Gives back what the peer holds in the shared attribute table. */
  dispose(): void {
    this.#cancelWait();
    this.#paths.dispose();
    this.#sender.dispose();
  }

  /** A connection of the peer was accepted, and the options of the neighbor are set on it. */
  incoming(socket: Socket): void {
    this.#session.incoming(socket);
  }

  status(): PeerStatus {
    const { clock } = this.#context;
    const now = clock.now();
    const session = this.#session;
    const { lastSent, lastReceived } = session.notifications;
    const rib = this.#paths.adjRibIn;
    const ago = agoAt(now);
    let advertised = 0;
    for (const _route of this.#sender.advertised()) advertised += 1;
    return {
      name: this.name,
      address: this.address,
      state: session.state,
      sinceMs: Math.round(now - this.#since),
      uptimeMs: this.#establishedAt === undefined ? null : Math.round(now - this.#establishedAt),
      stopped: !session.isStarted,
      idleHold: session.isHeld,
      passive: this.#identity.passive,
      dynamic: this.range !== undefined,
      isInternal: this.isInternal,
      localAddress: session.connection?.localAddress ?? null,
      remoteAddress: session.connection?.remoteAddress ?? null,
      ...negotiatedStatus(session.negotiated),
      timers: session.timers,
      messages: session.counters.counts(),
      prefixes: {
        received: rib?.size ?? 0,
        stale: this.#paths.staleCount,
        rejected: rib?.rejected.count ?? 0,
        advertised,
        unsent: this.#sender.unsentCount,
      },
      lastNotificationSent: lastSent === undefined ? null : ago(lastSent),
      lastNotificationReceived: lastReceived === undefined ? null : ago(lastReceived),
      lastDown: this.#lastDown === undefined ? null : ago(this.#lastDown),
      establishedCount: this.#establishedCount,
      connectRetryCounter: session.connectRetryCounter,
      ...this.#transitions.status(now),
    };
  }

  #newSession(): Session {
    const { asn, routerId, sockets, clock, deadlines, random } = this.#context;
    const { passive, address, port, oscillation } = this.#identity;
    const settings = this.#settings;
    return new Session({
      address,
      port,
      socket: settings.socket,
      connectPassword: settings.connectPassword,
      localOpen: localOpen(offerOf(settings, { asn, routerId }, true)),
      expected: { ...settings, localAsn: asn },
      fsm: {
        passive,
        connectRetryTime: settings.connectRetryTime,
        delayOpenTime: settings.delayOpenTime,
        sendHoldTime: settings.sendHoldTime,
        limitHold: settings.limitHold,
        ...(oscillation === undefined ? {} : { oscillation }),
      },
      sockets,
      clock,
      deadlines,
      random,
      traffic: this.#callbacks.traffic,
      memory: this.#context.table,
      handlers: {
        established: (negotiated) => this.#established(negotiated),
        down: (end) => this.#down(end),
        update: (update) => this.#paths.update(update),
        refresh: ({ afi, safi, subtype }) => this.#refresh(familyOf(afi, safi), subtype),
        drained: () => this.#sender.pump(),
        event: (event) => this.#event(event),
        settled: () => this.#settled(),
      },
    });
  }

  /** Without RFC 7313 the subtype is reserved, and "ignored by the receiver" (RFC 2918 section 3); with it an unknown one is nothing. */
  #refresh(family: Family | undefined, subtype: number): void {
    if (family === undefined) return;
    const isEnhanced = this.#session.negotiated?.enhancedRouteRefresh === true;
    if (!isEnhanced || subtype === RouteRefreshSubtype.Request) this.#sender.refresh(family);
    else if (subtype === RouteRefreshSubtype.Beginning) this.#paths.beginRefresh(family);
    else if (subtype === RouteRefreshSubtype.End) {
      this.#paths.endRefresh(family);
      this.#callbacks.refreshed(family);
    }
  }

  #established(negotiated: Negotiated): void {
    const { asn, routerId, clock } = this.#context;
    this.#establishedAt = clock.now();
    this.#establishedCount += 1;
    this.#paths.established(negotiated, this.#session.connection?.localAddress);
    const { gracefulRestart } = this.#settings;
    if (gracefulRestart !== undefined && this.#establishedCount === 1) {
      // The R bit belongs to the first session after the restart; from now on we have state of our own (RFC 4724 section 3).
      this.#session.localOpen = localOpen(offerOf(this.#settings, { asn, routerId }, false));
    }
    if (gracefulRestart?.restarting === true && this.#establishedCount === 1) {
      // RFC 4724 section 4.1: the wait has a bound.
      this.#cancelWait = clock.after(gracefulRestart.restartTime * 1000, () => this.#sender.stopWaiting());
    }
    // Routes that the application sets in its handler are part of the first full set.
    this.#callbacks.established(negotiated);
    this.#sender.established(negotiated.context);
  }

  #down(end: SessionEnd): void {
    this.#establishedAt = undefined;
    this.#sender.down();
    const { kept, report } = this.#paths.down(end);
    const reason: DownReason = {
      kind: end.kind,
      ...(end.code === undefined ? {} : { code: end.code }),
      ...(end.subcode === undefined ? {} : { subcode: end.subcode }),
      text: describeEnd(end),
      pathsKept: kept,
    };
    this.#lastDown = { kind: reason.kind, text: reason.text, at: this.#context.clock.now() };
    this.#callbacks.down(reason);
    report();
  }

  #event(event: PeerEvent): void {
    if (event.type === 'transition') this.#transitions.note(event, this.#context.clock.now());
    this.#callbacks.event(event);
  }

  #settled(): void {
    if (this.#state !== this.#session.state) {
      this.#state = this.#session.state;
      this.#since = this.#context.clock.now();
    }
    this.#callbacks.settled();
  }
}
