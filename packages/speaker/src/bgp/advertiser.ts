import {
  type Asn,
  asn,
  CeaseSubcode,
  type Family,
  ipv4Unicast,
  ipv6Unicast,
  parseIpAddress,
  parsePrefix,
  parseRouterId,
} from '@bgp-lb/protocol';
import { BgpSpeaker, type Clock, type Peer, type Sockets, type SpeakerHandlers } from '@bgp-lb/protocol/node';
import type { RouterConfig, SpeakerConfig } from '../config/speaker-config.ts';
import type { Advertisement } from '../lifecycle/vip-state.ts';
import { advertisementAttributes } from './attributes.ts';
import { type OtherMaster, otherMasters, otherMastersPolicy } from './other-masters.ts';

/** Seconds that the routers are asked to wait for a restarted speaker (RFC 4724). */
const RESTART_TIME = 60;

/** Seconds between attempts to connect at most: a router that boots last is found within that time. */
const CONNECT_RETRY = 5;

/** A router tells of each other master once; more than this from one router is a mistake that ends the session. */
const MAX_PATHS = 10_000;

export interface AdvertiserOptions {
  readonly config: Pick<SpeakerConfig, 'asn' | 'vips' | 'routers'>;
  readonly routerId: string;
  /** TCP-MD5 passwords by router address. */
  readonly passwords: ReadonlyMap<string, string>;
  /** A predecessor's routes may still be at the routers: they stay until `advertise` is called for the first time. */
  readonly isRestarting: boolean;
  /** The address that this host uses towards a router; `undefined` without a route. */
  readonly sourceTowards: (router: string) => string | undefined;
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
  readonly #speaker: BgpSpeaker;
  readonly #peers: readonly { readonly router: RouterConfig; readonly peer: Peer }[];
  #wanted: ReadonlyMap<string, Advertisement> | undefined;
  #caKeys: readonly string[] = [];

  /** Connects to all routers at once. @throws RangeError for settings that the protocol does not have */
  constructor(options: AdvertiserOptions) {
    this.#options = options;
    this.#localAsn = asn(options.config.asn);
    const { established, down, event, ignored } = options.handlers;
    const handlers: SpeakerHandlers = {
      established: (peer, negotiated) => {
        // The session's own address is the next hop, whatever the route to the router says by now.
        this.#push(peer);
        established?.(peer, negotiated);
      },
      routes: (peer, change) => ignored?.(peer.address, change.rejected.length),
      ...(down === undefined ? {} : { down }),
      ...(event === undefined ? {} : { event }),
    };
    this.#speaker = new BgpSpeaker({
      asn: this.#localAsn,
      routerId: parseRouterId(options.routerId),
      sockets: options.sockets,
      handlers,
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    });
    this.#peers = options.config.routers.map((router) => ({ router, peer: this.#addPeer(router) }));
  }

  /** Brings all routers to this set of advertisements; only differences are sent. */
  advertise(wanted: ReadonlyMap<string, Advertisement>, caKeys: readonly string[]): void {
    const isSame =
      this.#wanted !== undefined && isEqualMap(this.#wanted, wanted) && isEqualList(this.#caKeys, caKeys);
    if (isSame) return;
    this.#wanted = new Map(wanted);
    this.#caKeys = caKeys;
    for (const { peer } of this.#peers) this.#push(peer);
  }

  /** The sessions, in the order of the configuration. */
  peers(): readonly Peer[] {
    return this.#peers.map(({ peer }) => peer);
  }

  /** The other masters that the routers forward to, as they reflect them. */
  otherMasters(): readonly OtherMaster[] {
    const received = this.peers().map((peer) => ({ router: peer.address, paths: peer.paths() }));
    const own = this.peers().flatMap((peer) => sessionAddress(peer) ?? []);
    return otherMasters(received, own);
  }

  /** Ends the session with a router that is dead by BFD: Cease/BFD Down (RFC 9384). It is looked for again as always. */
  endDead(router: string): void {
    const peer = this.#peerOf(router);
    peer?.stop({ subcode: CeaseSubcode.BfdDown });
    peer?.start();
  }

  /** Lets the session with a router connect, or keeps it from doing so. */
  mayConnect(router: string, isAllowed: boolean): void {
    const peer = this.#peerOf(router);
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

  #peerOf(router: string): Peer | undefined {
    return this.#peers.find(({ peer }) => peer.address === router)?.peer;
  }

  #addPeer(router: RouterConfig): Peer {
    const peer = this.#startPeer(router);
    // Before anything was sent: connecting begins when this has returned.
    if (router.bfd?.strict === true) peer.stopSilently();
    return peer;
  }

  #startPeer(router: RouterConfig): Peer {
    const password = this.#options.passwords.get(router.address);
    const families = [familyOf(router.address)];
    return this.#speaker.addPeer({
      name: router.address,
      address: router.address,
      port: router.port,
      remoteAsn: [asn(router.asn)],
      families,
      holdTime: Math.round(router.holdTime / 1000),
      connectRetryTime: CONNECT_RETRY,
      gracefulRestart: { restartTime: RESTART_TIME, families, restarting: this.#options.isRestarting },
      maxPaths: MAX_PATHS,
      addPathReceive: families,
      importPolicy: otherMastersPolicy(
        this.#options.config.vips.map(({ address }) =>
          parsePrefix(`${address}/${familyOf(address).maxPrefixLength}`),
        ),
      ),
      socket: {
        userTimeout: router.holdTime,
        ...(password === undefined ? {} : { password }),
        ...(router.ttlSecurityHops === 0 ? {} : { ttlSecurityHops: router.ttlSecurityHops }),
      },
    });
  }

  #push(peer: Peer): void {
    if (this.#wanted === undefined) return;
    const family = familyOf(peer.address);
    const local = sessionAddress(peer) ?? this.#options.sourceTowards(peer.address);
    // Without a way to the router there is no session either; `established` comes back here.
    peer.setRoutes(family, local === undefined ? [] : this.#routes(family, peer.isInternal, local));
  }

  #routes(family: Family, isInternal: boolean, local: string): Parameters<Peer['setRoutes']>[1] {
    const nextHop = parseIpAddress(local);
    return [...(this.#wanted ?? [])].flatMap(([vip, advertisement]) => {
      if (advertisement === 'none' || familyOf(vip) !== family) return [];
      const attributes = advertisementAttributes({
        localAsn: this.#localAsn,
        isInternal,
        nextHop,
        advertisement,
        caKeys: this.#caKeys,
      });
      return [{ prefix: parsePrefix(`${vip}/${family.maxPrefixLength}`), attributes }];
    });
  }
}

/** Our address of the established session, which status shows with its port. */
function sessionAddress(peer: Peer): string | undefined {
  const endpoint = peer.state === 'Established' ? peer.status().localAddress : null;
  return endpoint?.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
}

function familyOf(address: string): Family {
  return address.includes(':') ? ipv6Unicast : ipv4Unicast;
}

function isEqualMap(a: ReadonlyMap<string, unknown>, b: ReadonlyMap<string, unknown>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

function isEqualList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
