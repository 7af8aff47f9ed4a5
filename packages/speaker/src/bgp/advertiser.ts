import { isDeepStrictEqual } from 'node:util';
import { capabilitySwitches } from '@bgp-lb/daemon';
import {
  type Asn,
  asn,
  type BfdKey,
  CeaseSubcode,
  type Family,
  formatPrefix,
  ipVersion,
  ipv4Unicast,
  ipv6Unicast,
  isLinkLocal,
  type Prefix,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
  withoutZone,
} from '@bgp-lb/protocol';
import {
  BgpSpeaker,
  bfdNonce,
  type Clock,
  negotiatedBfdKey,
  type Peer,
  type Sockets,
  type SpeakerHandlers,
} from '@bgp-lb/protocol/node';
import type { RouterPeerConfig, SpeakerConfig } from '../config/speaker-config.ts';
import type { Advertisement } from '../lifecycle/vip-state.ts';
import { type AdvertisementInput, advertisementAttributes } from './attributes.ts';
import { type OtherMaster, otherMasters, otherMastersPolicy } from './other-masters.ts';
import { RouterKeys } from './router-keys.ts';

/** Seconds that the routers are asked to wait for a restarted speaker (RFC 4724). */
const RESTART_TIME = 60;

/** Seconds between attempts to connect at most: a router that boots last is found within that time. */
const CONNECT_RETRY = 5;

/** A router tells of each other master once; more than this from one router is a mistake that ends the session. */
const MAX_PATHS = 10_000;

/** TCP-MD5 passwords by router address, the present one first. */
export type RouterPasswords = ReadonlyMap<string, readonly string[]>;

/** What a change of the routers did, by address. */
export interface RouterChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Their sessions had to end, since what they were made with has changed. */
  readonly changed: readonly string[];
}

interface Session {
  readonly router: RouterPeerConfig;
  readonly peer: Peer;
  readonly keys: RouterKeys;
  /** Whether its OPEN offers a key for BFD. */
  readonly offersBfdKey: boolean;
}

export interface AdvertiserOptions {
  readonly config: Pick<SpeakerConfig, 'asn' | 'vips' | 'routers' | 'vipBind'>;
  readonly routerId: string;
  /** TCP-MD5 passwords by router address: see `RouterKeys`. */
  readonly passwords: RouterPasswords;
  /** A predecessor's routes may still be at the routers: they stay until `advertise` is called for the first time. */
  readonly isRestarting: boolean;
  /** The address that this host uses towards a router; `undefined` without a route. */
  readonly sourceTowards: (router: string) => string | undefined;
  /** Our link-local address on the link that a router is on; `undefined` when it is behind a gateway. Asked for with IPv6. */
  readonly linkLocalTowards: (router: string) => string | undefined;
  /** Our global address on the link of a link-local router; `undefined` without one. */
  readonly globalOnLinkOf: (router: string) => string | undefined;
  readonly sockets: Sockets;
  readonly clock?: Clock;
  readonly handlers: Pick<SpeakerHandlers, 'established' | 'down' | 'event'> & {
    /** Routes came in that are no VIP of ours. */
    readonly ignored?: (router: string, count: number) => void;
  };
}

/** The BGP sessions with the routers, and what they are told. */
export class Advertiser {
  readonly #options: AdvertiserOptions;
  readonly #localAsn: Asn;
  readonly #bfdNonce = bfdNonce();
  readonly #speaker: BgpSpeaker;
  #sessions: readonly Session[] = [];
  #wanted: ReadonlyMap<string, Advertisement> | undefined;
  #caKeys: readonly string[] = [];
  /** Who waits for a router to show that it has read everything, by the router's address. */
  readonly #awaited = new Map<string, Set<() => void>>();

  /** Connects to all routers at once. @throws RangeError for settings that the protocol does not have */
  constructor(options: AdvertiserOptions) {
    this.#options = options;
    this.#localAsn = asn(options.config.asn);
    const { established, down, event, ignored } = options.handlers;
    const handlers: SpeakerHandlers = {
      established: (peer, negotiated) => {
        this.#sessionWith(peer.address)?.keys.worked();
        // The session's own address is the next hop, whatever the route to the router says by now.
        this.#push(peer);
        established?.(peer, negotiated);
      },
      routes: (peer, change) => ignored?.(peer.address, change.rejected.length),
      refreshed: (peer) => this.#hasRead(peer.address),
      down: (peer, reason) => {
        this.#hasRead(peer.address);
        down?.(peer, reason);
      },
      ...(event === undefined ? {} : { event }),
    };
    this.#speaker = new BgpSpeaker({
      asn: this.#localAsn,
      routerId: parseRouterId(options.routerId),
      sockets: options.sockets,
      handlers,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    this.setRouters(options.config.routers, options.passwords, options.isRestarting);
  }

  /**
   * Brings the sessions to these routers. Those whose settings are the same are not touched: another password is used when they are
   * next connected. What is added connects at once, and is told what the others have been told.
   * @throws RangeError for settings that the protocol does not have
   */
  setRouters(
    routers: readonly RouterPeerConfig[],
    passwords: RouterPasswords,
    isRestarting = false,
  ): RouterChanges {
    const before = this.#sessions;
    const known = new Map(before.map((session) => [session.router.address, session]));
    const wanted = new Set(routers.map(({ address }) => address));
    const changes = { added: [] as string[], removed: [] as string[], changed: [] as string[] };
    this.#sessions = routers.map((router) => {
      const { address } = router;
      const session = known.get(address);
      const keys = passwords.get(address) ?? [];
      if (session !== undefined && isSameSession(session, router, keys)) {
        session.keys.replace(keys);
        return { ...session, router };
      }
      (session === undefined ? changes.added : changes.changed).push(address);
      if (session !== undefined) {
        session.peer.stop({ subcode: CeaseSubcode.OtherConfigurationChange });
        void this.#speaker.removePeer(session.peer);
      }
      return this.#addSession(router, new RouterKeys(keys), isRestarting);
    });
    for (const { router, peer } of before) {
      if (wanted.has(router.address)) continue;
      changes.removed.push(router.address);
      void this.#speaker.removePeer(peer);
    }
    return changes;
  }

  /** Brings all routers to this set of advertisements; only differences are sent. */
  advertise(wanted: ReadonlyMap<string, Advertisement>, caKeys: readonly string[]): void {
    const isSame =
      this.#wanted !== undefined && isEqualMap(this.#wanted, wanted) && isEqualList(this.#caKeys, caKeys);
    if (isSame) return;
    this.#wanted = new Map(wanted);
    this.#caKeys = caKeys;
    for (const { peer } of this.#sessions) this.#push(peer);
  }

  /** The other masters in service with full weight for a VIP, by address: they would serve it without this one. */
  others(vip: string): ReadonlySet<string> {
    const prefix = formatPrefix(prefixOf(vip));
    const inService = this.otherMasters().filter((one) => one.vip === prefix && !one.asksForLess);
    return new Set(inService.map(({ address }) => address));
  }

  /**
   * Resolves when each router with a session has shown that it has worked on all that it was sent: messages are worked on in
   * their order, so the end of the answer to a ROUTE-REFRESH (RFC 7313) says so. Our router has changed its kernel by then. The
   * promise stays open when one cannot show it.
   */
  async movedOn(): Promise<void> {
    const peers = this.peers().filter(({ state }) => state === 'Established');
    await Promise.all(
      peers.map(
        (peer) =>
          new Promise<void>((resolve) => {
            const waiting = this.#awaited.get(peer.address) ?? new Set();
            this.#awaited.set(peer.address, waiting.add(resolve));
            peer.requestRefresh(familyOf(peer.address));
          }),
      ),
    );
  }

  /** The sessions, in the order of the configuration. */
  peers(): readonly Peer[] {
    return this.#sessions.map(({ peer }) => peer);
  }

  /** The other masters that the routers forward to, as they reflect them. */
  otherMasters(): readonly OtherMaster[] {
    const received = this.peers().map((peer) => ({ router: peer.address, paths: peer.paths() }));
    const own = this.peers().flatMap((peer) => sessionAddress(peer) ?? []);
    return otherMasters(received, own);
  }

  /** The key of BFD that the session with a router agreed on. */
  bfdKeyOf(router: string): BfdKey | undefined {
    const session = this.#sessionWith(router);
    return negotiatedBfdKey(session?.peer.negotiated, session?.keys.current);
  }

  /** Ends the session with a router that is dead by BFD: Cease/BFD Down (RFC 9384). It is looked for again as always. */
  endDead(router: string): void {
    const peer = this.#sessionWith(router)?.peer;
    peer?.stop({ subcode: CeaseSubcode.BfdDown });
    peer?.start();
  }

  /** Lets the session with a router connect, or keeps it from doing so. */
  mayConnect(router: string, isAllowed: boolean): void {
    const peer = this.#sessionWith(router)?.peer;
    if (isAllowed) peer?.start();
    else peer?.stopSilently();
  }

  /** Closes TCP without a word, so that the routers keep our paths for a successor (RFC 4724). */
  closeForSuccessor(): Promise<void> {
    return this.#speaker.close({ keepForwarding: true });
  }

  /** Ends the sessions by Cease/Administrative Shutdown with a text (RFC 9003). */
  shutdown(text: string): Promise<void> {
    return this.#speaker.close({ text });
  }

  #hasRead(router: string): void {
    for (const resolve of this.#awaited.get(router) ?? []) resolve();
    this.#awaited.delete(router);
  }

  #sessionWith(router: string): Session | undefined {
    return this.#sessions.find(({ peer }) => peer.address === router);
  }

  #addSession(router: RouterPeerConfig, keys: RouterKeys, isRestarting: boolean): Session {
    const peer = this.#startPeer(router, keys, isRestarting);
    this.#push(peer);
    // Before anything was sent: connecting begins when this has returned.
    if (router.bfd !== false && router.bfd.strict) peer.stopSilently();
    return { router, peer, keys, offersBfdKey: offersBfdKey(router, keys.isUsed) };
  }

  #startPeer(router: RouterPeerConfig, keys: RouterKeys, isRestarting: boolean): Peer {
    const families = [familyOf(router.address)];
    const without = router.withoutCapabilities;
    return this.#speaker.addPeer({
      name: router.address,
      address: router.address,
      port: router.port,
      remoteAsn: [asn(router.asn)],
      families,
      holdTime: Math.round(router.holdTime / 1000),
      acceptAsSet: router.acceptAsSet,
      connectRetryTime: CONNECT_RETRY,
      ...(!without.includes('graceful-restart') && {
        gracefulRestart: { restartTime: RESTART_TIME, families, restarting: isRestarting },
      }),
      ...(offersBfdKey(router, keys.isUsed) && { bfdAuthentication: this.#bfdNonce }),
      maxPaths: MAX_PATHS,
      addPathReceive: families,
      ...capabilitySwitches(without),
      importPolicy: otherMastersPolicy(this.#options.config.vips.map(({ address }) => prefixOf(address))),
      ...(keys.isUsed ? { connectPassword: () => keys.next() } : {}),
      socket: {
        userTimeout: router.holdTime,
        ...(router.sourceAddress === undefined ? {} : { localAddress: router.sourceAddress }),
        ...(router.ttlSecurityHops === 0 ? {} : { ttlSecurityHops: router.ttlSecurityHops }),
      },
    });
  }

  #push(peer: Peer): void {
    if (this.#wanted === undefined) return;
    const family = familyOf(peer.address);
    const local = sessionAddress(peer) ?? this.#options.sourceTowards(peer.address);
    // Without a way to the router there is no session either; `established` comes back here.
    peer.setRoutes(family, local === undefined ? [] : this.#routes(family, peer, local));
  }

  /** RFC 2545 section 3: the global address, and the link-local one for a router on our link; that alone where we have no other. */
  #nextHop(
    family: Family,
    { address }: Peer,
    local: string,
  ): Pick<AdvertisementInput, 'nextHop' | 'linkLocalNextHop'> {
    const { linkLocalTowards, globalOnLinkOf } = this.#options;
    const own = parseIpAddress(withoutZone(local));
    if (isLinkLocal(own)) {
      const global = globalOnLinkOf(address);
      return global === undefined
        ? { nextHop: own, linkLocalNextHop: undefined }
        : { nextHop: parseIpAddress(global), linkLocalNextHop: own };
    }
    const linkLocal = family === ipv6Unicast ? linkLocalTowards(address) : undefined;
    return {
      nextHop: own,
      linkLocalNextHop: linkLocal === undefined ? undefined : parseIpAddress(linkLocal),
    };
  }

  #routes(family: Family, peer: Peer, local: string): Parameters<Peer['setRoutes']>[1] {
    const { config } = this.#options;
    const nextHop = this.#nextHop(family, peer, local);
    return config.vips.flatMap((vip) => {
      const advertisement = this.#wanted?.get(vip.address) ?? 'none';
      if (advertisement === 'none' || familyOf(vip.address) !== family) return [];
      const attributes = advertisementAttributes({
        vip,
        localAsn: this.#localAsn,
        isInternal: peer.isInternal,
        ...nextHop,
        advertisement,
        caKeys: this.#caKeys,
        isVipBound: config.vipBind,
      });
      return [{ prefix: prefixOf(vip.address), attributes }];
    });
  }
}

/** Our address of the established session, with its zone, which status shows with its port. */
function sessionAddress(peer: Peer): string | undefined {
  const endpoint = peer.state === 'Established' ? peer.status().localAddress : null;
  return endpoint?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
}

function prefixOf(vip: string): Prefix {
  return parsePrefix(`${vip}/${familyOf(vip).maxPrefixLength}`);
}

function familyOf(address: string): Family {
  return ipVersion(address) === 6 ? ipv6Unicast : ipv4Unicast;
}

function isEqualMap(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

function isEqualList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/** Also without BFD, which may be turned on while the session lasts. An OPEN without a password could be of any host. */
function offersBfdKey({ bfd, withoutCapabilities }: RouterPeerConfig, hasPassword: boolean): boolean {
  const isWanted = bfd === false || bfd.authentication === 'auto';
  return isWanted && hasPassword && !withoutCapabilities.includes('bfd-authentication');
}

/**
 * BFD is not of the session but beside it, but for the offer of its key: BFD that goes by another one than the router was told of would
 * not come Up. A session may live on with another password, though not with the first or without.
 */
function isSameSession(session: Session, wanted: RouterPeerConfig, wantedKeys: readonly string[]): boolean {
  const { router, keys } = session;
  const hasPassword = wantedKeys.length > 0;
  if (keys.isUsed !== hasPassword) return false;
  // Without BFD an offer does no harm, and neither does its absence.
  if (wanted.bfd !== false && session.offersBfdKey !== offersBfdKey(wanted, hasPassword)) return false;
  return isDeepStrictEqual(settingsOf(router), settingsOf(wanted));
}

function settingsOf({
  passwordFile: _,
  nextPasswordFile: __,
  bfd: ___,
  ...settings
}: RouterPeerConfig): object {
  return settings;
}
