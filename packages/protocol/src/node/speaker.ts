import type { Socket } from 'node:net';
import {
  type Asn,
  AttributeTable,
  CeaseSubcode,
  type Family,
  formatPrefix,
  ipVersion,
  type Negotiated,
  Oscillation,
  type RouteChange,
  type RouterId,
} from '../index.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Traffic } from './connection.ts';
import { Deadlines } from './deadlines.ts';
import { canonicalAddress, type NeighborRange, neighborRange, passwordPrefix, rangeOf } from './neighbors.ts';
import { Peer, type PeerIdentity } from './peer.ts';
import type { DownReason, PeerEvent } from './peer-event.ts';
import {
  type PeerOptions,
  type PeerRangeOptions,
  type ResolvedSettings,
  resolveSettings,
} from './peer-settings.ts';
import { Rejection } from './rejection.ts';
import { type ListeningSocket, plainSockets, type Sockets } from './sockets.ts';

/** The port of BGP. */
const BGP_PORT = 179;
/** How many addresses of ranges have their failures remembered. */
const OSCILLATIONS_KEPT = 1024;

/** What the application is told. */
export interface SpeakerHandlers {
  established?(peer: Peer, negotiated: Negotiated): void;
  /** Only after `established`. What becomes of the paths follows by `routes`. */
  down?(peer: Peer, reason: DownReason): void;
  /** The Adj-RIB-In of the peer has changed: by UPDATEs, by the end of the session, by the end of stale paths. Without this handler no object is made of a path until it is asked for. */
  routes?(peer: Peer, change: RouteChange): void;
  /** The peer has announced all that it has in this family (RFC 4724 section 2). */
  endOfRib?(peer: Peer, family: Family): void;
  /**
   * The peer has announced it all once more and said so (RFC 7313). Messages are worked on in their order: it has read whatever
   * it was sent before `requestRefresh`.
   */
  refreshed?(peer: Peer, family: Family): void;
  /** Every message on every connection of a peer, as octets: for recorders. Costs nothing where it is left out. */
  traffic?(peer: Peer, traffic: Traffic): void;
  /** For logs and metrics; the peer is `undefined` for connections of unknown addresses. */
  event?(peer: Peer | undefined, event: PeerEvent): void;
}

export interface SpeakerOptions {
  readonly asn: Asn;
  readonly routerId: RouterId;
  /** CLUSTER_ID of a route reflector: paths that have passed it are not taken (RFC 4456 section 8). Default: none is looked for. */
  readonly clusterId?: RouterId;
  /** Default `plainSockets`. */
  readonly sockets?: Sockets;
  /** Default `systemClock`. */
  readonly clock?: Clock;
  /** In [0, 1), for jitter. Default Math.random. */
  readonly random?: () => number;
  readonly handlers?: SpeakerHandlers;
  /** How many connections of unknown addresses are told why they are closed, at a time; the others are closed at once. Default 8. */
  readonly maxUnknownConnections?: number;
}

/** A BGP speaker: its neighbors and the sockets that it listens on. The front door of this library. */
export class BgpSpeaker {
  readonly asn: Asn;
  readonly routerId: RouterId;
  readonly #clusterId: RouterId | undefined;
  readonly #sockets: Sockets;
  readonly #clock: Clock;
  readonly #deadlines: Deadlines;
  readonly #random: () => number;
  readonly #handlers: SpeakerHandlers;
  /** The attributes of all paths and routes; for those who keep paths longer than the peers do. */
  readonly attributeTable: AttributeTable;
  readonly #rejection: Rejection;
  readonly #listeners: ListeningSocket[] = [];
  /** By canonical address. */
  readonly #peers = new Map<string, Peer>();
  readonly #settings = new Map<Peer, ResolvedSettings>();
  readonly #ranges = new Map<string, NeighborRange>();
  readonly #oscillations = new Map<string, Oscillation>();
  /** TCP MD5 keys by prefix. */
  readonly #passwords = new Map<string, string>();
  #isClosing = false;

  constructor(options: SpeakerOptions) {
    this.asn = options.asn;
    this.routerId = options.routerId;
    this.#clusterId = options.clusterId;
    this.#sockets = options.sockets ?? plainSockets;
    this.#clock = options.clock ?? systemClock;
    this.#deadlines = new Deadlines(this.#clock);
    this.#random = options.random ?? Math.random;
    this.attributeTable = new AttributeTable(Math.floor(this.#random() * 2 ** 32));
    this.#handlers = options.handlers ?? {};
    this.#rejection = new Rejection(options.asn, this.#clock, options.maxUnknownConnections ?? 8);
  }

  /** Connections that were closed because no neighbor is configured at their address, or its range is full. */
  get rejectedConnections(): number {
    return this.#rejection.count;
  }

  /** What is listened on. */
  get listeners(): readonly { readonly address: string; readonly port: number }[] {
    return this.#listeners.map(({ address, port }) => ({ address, port }));
  }

  /**
   * Listens for peers on a literal address.
   * Rejects with the system's error when the address or port cannot be had.
   */
  async listen(options: { address: string; port?: number; backlog?: number }): Promise<void> {
    const { address, port = BGP_PORT, backlog = 1024 } = options;
    const listener = await this.#sockets.listen({ address, port, backlog }, (socket) => this.#accept(socket));
    this.#listeners.push(listener);
    for (const [prefix, password] of this.#passwords) setListenerPassword(listener, prefix, password);
  }

  /**
   * Adds a neighbor and starts its session.
   * @throws RangeError for settings that cannot be, or a name or address that is taken
   */
  addPeer(options: PeerOptions): Peer {
    const settings = resolveSettings(options.name, options);
    const address = canonicalAddress(options.address);
    const known = this.peer(options.name) ?? this.#peers.get(address);
    if (known !== undefined && known.range === undefined) {
      throw new RangeError(`peer ${options.name}: ${address} is already known as peer ${known.name}`);
    }
    if (known !== undefined) {
      known.stop({ subcode: CeaseSubcode.OtherConfigurationChange });
      known.dropStale();
      this.#forget(known);
    }
    this.#setPassword(passwordPrefix(options.address), settings.socket.password);
    const peer = this.#newPeer(
      {
        name: options.name,
        address: options.address,
        port: options.port ?? BGP_PORT,
        passive: options.passive ?? false,
        range: undefined,
        oscillation: undefined,
      },
      settings,
    );
    peer.start();
    return peer;
  }

  /**
   * Lets peers of a prefix connect.
   * @throws RangeError for settings that cannot be, or a name that is taken
   */
  addRange(options: PeerRangeOptions): void {
    const settings = resolveSettings(options.name, options);
    if (this.#ranges.has(options.name)) throw new RangeError(`range ${options.name} is already known`);
    const range = neighborRange(options, settings);
    this.#ranges.set(options.name, range);
    this.#setPassword(formatPrefix(range.prefix), settings.socket.password);
  }

  /** Takes a range back and ends the sessions of its members, with Cease/Peer De-configured. */
  async removeRange(name: string): Promise<void> {
    const range = this.#ranges.get(name);
    if (range === undefined) return;
    this.#ranges.delete(name);
    this.#setPassword(formatPrefix(range.prefix), undefined);
    await Promise.all(this.#membersOf(name).map((peer) => this.removePeer(peer)));
  }

  /**
   * Has connections that a peer or a range makes from now on be signed with another key, or with none; a session that stands
   * keeps the key that it was made with (RFC 2385). For connections that we make, `connectPassword` is asked each time.
   * @throws RangeError when there is no such peer and no such range
   */
  setAcceptPassword(name: string, password: string | undefined): void {
    const range = this.#ranges.get(name);
    const peer = this.peer(name);
    if (range !== undefined) {
      this.#ranges.set(name, { ...range, settings: signedWith(range.settings, password) });
      this.#setPassword(formatPrefix(range.prefix), password);
    } else if (peer !== undefined) {
      this.#setPassword(passwordPrefix(peer.address), password);
    } else throw new RangeError(`no peer or range ${name}`);
    // What an accepted connection is given.
    for (const [one, settings] of this.#settings) {
      if (one === peer || (range !== undefined && one.range === name)) {
        this.#settings.set(one, signedWith(settings, password));
      }
    }
  }

  /** All neighbors, those of ranges too. */
  peers(): readonly Peer[] {
    return [...this.#peers.values()];
  }

  peer(nameOrAddress: string): Peer | undefined {
    for (const peer of this.#peers.values()) {
      if (peer.name === nameOrAddress || peer.address === nameOrAddress) return peer;
    }
    return undefined;
  }

  /**
   * Ends the session with Cease/Peer De-configured and forgets the peer; its paths are withdrawn by `routes`.
   * Resolves when its sockets are closed.
   * @param text for the peer's operator; only Administrative Shutdown can carry one, which is sent instead then (RFC 9003)
   */
  async removePeer(peer: Peer, text?: string): Promise<void> {
    if (this.#peers.get(canonicalAddress(peer.address)) !== peer) return;
    peer.stop(text === undefined ? { subcode: CeaseSubcode.PeerDeconfigured } : { text });
    peer.dropStale();
    this.#forget(peer);
    const prefix = passwordPrefix(peer.address);
    const isShared = this.peers().some(
      (one) => one.range === undefined && passwordPrefix(one.address) === prefix,
    );
    if (peer.range === undefined && !isShared) this.#setPassword(prefix, undefined);
    await peer.gone();
  }

  /**
   * Ends all sessions, waits until the last octets have left, and closes the listeners.
   * @param options.text for the peers' operators (RFC 9003)
   * @param options.keepForwarding TCP is closed without a NOTIFICATION, so that peers with graceful restart keep our routes (RFC 4724)
   */
  async close(options: { readonly text?: string; readonly keepForwarding?: boolean } = {}): Promise<void> {
    this.#isClosing = true;
    const peers = this.peers();
    for (const peer of peers) {
      if (options.keepForwarding === true) peer.stopSilently();
      else peer.stop(options.text === undefined ? {} : { text: options.text });
    }
    await Promise.all(peers.map((peer) => peer.gone()));
    for (const peer of peers) this.#forget(peer);
    await Promise.all(this.#listeners.splice(0).map((listener) => listener.close()));
  }

  #newPeer(identity: PeerIdentity, settings: ResolvedSettings): Peer {
    const { asn, routerId } = this;
    const context = {
      asn,
      routerId,
      clusterId: this.#clusterId,
      sockets: this.#sockets,
      clock: this.#clock,
      deadlines: this.#deadlines,
      random: this.#random,
      table: this.attributeTable,
    };
    const handlers = this.#handlers;
    const peer: Peer = new Peer(identity, settings, context, {
      established: (negotiated) => handlers.established?.(peer, negotiated),
      down: (reason) => handlers.down?.(peer, reason),
      hearsRoutes: handlers.routes !== undefined,
      routes: (change) => {
        handlers.routes?.(peer, change);
        this.#forgetIfQuiet(peer);
      },
      endOfRib: (family) => handlers.endOfRib?.(peer, family),
      refreshed: (family) => handlers.refreshed?.(peer, family),
      event: (event) => handlers.event?.(peer, event),
      traffic: handlers.traffic && ((traffic) => handlers.traffic?.(peer, traffic)),
      settled: () => this.#forgetIfQuiet(peer),
    });
    this.#peers.set(canonicalAddress(identity.address), peer);
    this.#settings.set(peer, settings);
    return peer;
  }

  #accept(socket: Socket): void {
    const remote = socket.remoteAddress;
    if (remote === undefined || this.#isClosing) {
      // The peer has gone before we looked.
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    const address = canonicalAddress(remote);
    const peer = this.#peers.get(address) ?? this.#memberOf(address, socket);
    if (peer === undefined) return;
    try {
      this.#sockets.accepted(socket, this.#settings.get(peer)?.socket ?? {});
    } catch (error) {
      socket.on('error', () => undefined);
      socket.destroy();
      const reason = error instanceof Error ? error.message : String(error);
      this.#handlers.event?.(peer, { type: 'connection-refused', address, reason });
      this.#forgetIfQuiet(peer);
      return;
    }
    peer.incoming(socket);
  }

  /** A new peer of the range that the address is in; `undefined` when there is none, and the connection is turned away. */
  #memberOf(address: string, socket: Socket): Peer | undefined {
    const range = rangeOf(this.#ranges.values(), address);
    if (range === undefined) {
      this.#reject(socket, address, 'nobody is configured at this address');
      return undefined;
    }
    if (this.#membersOf(range.name).length >= range.maxSessions) {
      this.#reject(socket, address, `range ${range.name} has its ${range.maxSessions} sessions`);
      return undefined;
    }
    const peer = this.#newPeer(
      {
        name: address,
        address,
        port: BGP_PORT,
        passive: true,
        range: range.name,
        oscillation: this.#oscillationOf(address),
      },
      range.settings,
    );
    this.#starting = peer;
    peer.start();
    this.#starting = undefined;
    return peer;
  }

  #starting: Peer | undefined;

  #reject(socket: Socket, address: string, reason: string): void {
    this.#rejection.reject(socket);
    this.#handlers.event?.(undefined, { type: 'connection-refused', address, reason });
  }

  #membersOf(range: string): readonly Peer[] {
    return this.peers().filter((peer) => peer.range === range);
  }

  /** What is remembered of an address in a range, so that a peer that comes and goes is damped all the same. */
  #oscillationOf(address: string): Oscillation {
    const oscillation = this.#oscillations.get(address) ?? new Oscillation();
    // The oldest goes: a Map keeps the order of insertion.
    this.#oscillations.delete(address);
    this.#oscillations.set(address, oscillation);
    const oldest = this.#oscillations.keys().next();
    if (this.#oscillations.size > OSCILLATIONS_KEPT && oldest.done !== true)
      this.#oscillations.delete(oldest.value);
    return oscillation;
  }

  /** A peer of a range that has no connection and no stale path is no peer any more. */
  #forgetIfQuiet(peer: Peer): void {
    if (peer.range === undefined || peer === this.#starting || !peer.isQuiet) return;
    if (this.#peers.get(canonicalAddress(peer.address)) !== peer) return;
    this.#forget(peer);
    this.#handlers.event?.(peer, { type: 'forgotten' });
  }

  #forget(peer: Peer): void {
    this.#peers.delete(canonicalAddress(peer.address));
    this.#settings.delete(peer);
    peer.dispose();
  }

  #setPassword(prefix: string, password: string | undefined): void {
    if (password === undefined && !this.#passwords.has(prefix)) return;
    if (password === undefined) this.#passwords.delete(prefix);
    else this.#passwords.set(prefix, password);
    for (const listener of this.#listeners) setListenerPassword(listener, prefix, password);
  }
}

function signedWith(settings: ResolvedSettings, password: string | undefined): ResolvedSettings {
  const { password: _, ...socket } = settings.socket;
  return { ...settings, socket: password === undefined ? socket : { ...socket, password } };
}

/** A listener on an IPv4 address never sees an IPv6 neighbor, and cannot hold its key; one on `::` may see both. */
function setListenerPassword(listener: ListeningSocket, prefix: string, password: string | undefined): void {
  if (ipVersion(prefix) === 6 && ipVersion(listener.address) === 4) return;
  listener.setPassword(prefix, password);
}
