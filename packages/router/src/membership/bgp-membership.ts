import {
  CeaseSubcode,
  formatPrefix,
  NotificationCode,
  type Path,
  type PathAttributes,
} from '@bgp-lb/protocol';
import type { DownReason, Peer, PeerEvent } from '@bgp-lb/protocol/node';
import type { BgpNeighbors } from '../bgp/bgp-neighbors.ts';
import { canonicalText } from '../bgp/neighbor-options.ts';
import type { NeighborConfig } from '../config/router-config.ts';
import type { MemberSession } from '../pool/member-claims.ts';
import type {
  HostDeaths,
  HostLiveness,
  MembershipEvent,
  MembershipSink,
  MembershipSource,
  StandingEvent,
} from './membership-source.ts';
import { pathIdentities, pathIntent } from './path-intent.ts';

/** What was reported of one path. */
interface Reported {
  readonly attributes: PathAttributes;
  readonly isStale: boolean;
}

const UP: MemberSession = { isLive: true, state: 'Established' };
/** States on the way up are none that a member can be used by. */
const DOWN: MemberSession = { isLive: false, state: 'Idle' };
const SAID_DEAD = 'its speaker says that BFD is down';
/** What our own BFD thread says of the same failure may be overtaken by the neighbor's TCP by so much (ms). */
const OWN_WORD = 25;
/** Masters that take us for dead because we hung say so within this time of each other (ms). */
const CEASED_TOGETHER = 1000;

/** Members are the BGP neighbors of role `master` that announce a VIP. */
export class BgpMembership implements MembershipSource {
  readonly kind = 'bgp';
  readonly liveness: HostLiveness = {
    hostsDead: (deaths) => this.#hostsDead(deaths),
    bfdRequired: (address, isUp) => this.#bfdRequired(address, isUp),
  };
  #bgp: BgpNeighbors;
  #mayBeDeaf: (nextHop: string) => boolean;
  #sink: MembershipSink = () => undefined;
  /** By next hop, then by VIP. */
  #reported = new Map<string, Map<string, Reported>>();
  /** Why paths of a peer are about to go, where a message before says so. */
  #reasons = new Map<string, string>();
  /** Members that ended their sessions because BFD is down, to be reported together. */
  #ceased: string[] = [];
  /** Members that must have BFD and have it not. */
  #withoutBfd = new Set<string>();

  /** @param mayBeDeaf whether it may be this host that did not hear a member, or was not heard by it, a moment ago */
  constructor(bgp: BgpNeighbors, mayBeDeaf: (nextHop: string) => boolean = () => false) {
    this.#bgp = bgp;
    this.#mayBeDeaf = mayBeDeaf;
    bgp.own('master', {
      established: (peer) => this.#established(peer),
      down: (peer, reason) => this.#down(peer, reason),
      paths: (peer, refusal) => this.#paths(peer, refusal),
      endOfRib: (peer) => this.#sink([{ type: 'complete', nextHop: canonicalText(peer.address) }]),
      event: (peer, event) => this.#event(peer, event),
    });
  }

  async start(sink: MembershipSink): Promise<void> {
    // In here members go by the addresses of their sessions, as peers and BFD do.
    this.#sink = (events) => {
      if (events.length > 0) sink(events.map((event) => atMemberAddress(event, this.#bgp.neighbors)));
    };
    this.#sink(this.#configured());
    await this.#bgp.start();
  }

  standing(): readonly StandingEvent[] {
    const peers = this.#bgp.peers('master').map(({ peer: { address, name, state } }): StandingEvent => {
      const session = state === 'Established' ? UP : DOWN;
      return { type: 'session', nextHop: canonicalText(address), name, session };
    });
    const barriers = [...this.#withoutBfd].map((nextHop) => bfdBarrier(nextHop, false));
    return [...this.#configured(), ...peers, ...barriers].map((event) =>
      atMemberAddress(event, this.#bgp.neighbors),
    );
  }

  /** Members that are known without a session. */
  #configured(): StandingEvent[] {
    return this.#bgp.neighbors.flatMap(({ role, name, address }): StandingEvent[] =>
      role === 'master' && address !== undefined
        ? [{ type: 'session', nextHop: address, name, session: DOWN }]
        : [],
    );
  }

  async stop(): Promise<void> {
    this.#sink = () => undefined;
    await this.#bgp.stop();
  }

  /** BFD says that these hosts are dead: they are reported as lost, and then their sessions are ended (RFC 9384). */
  #hostsDead({ addresses, doubtful, window }: HostDeaths): void {
    const peers = this.#bgp
      .peers('master')
      .map(({ peer }) => peer)
      .filter((peer) => addresses.includes(canonicalText(peer.address)));
    this.#lost(
      peers.map((peer) => canonicalText(peer.address)),
      'BFD down',
      window,
      (nextHop) => doubtful.has(nextHop),
    );
    for (const peer of peers) {
      peer.bfdDown();
    }
  }

  /** A master that must have BFD has it, or not. */
  #bfdRequired(nextHop: string, isUp: boolean): void {
    if (isUp) this.#withoutBfd.delete(nextHop);
    else this.#withoutBfd.add(nextHop);
    this.#sink([bfdBarrier(nextHop, isUp)]);
  }

  #lost(
    nextHops: readonly string[],
    reason: string,
    window: number,
    isDoubtful: (nextHop: string) => boolean,
  ): void {
    for (const nextHop of nextHops) {
      // What follows from the end of the session was reported by this.
      this.#reported.delete(nextHop);
    }
    if (nextHops.length > 0) {
      const members = nextHops.map((nextHop) => ({ nextHop, reason, isDoubtful: isDoubtful(nextHop) }));
      this.#sink([{ type: 'lost', members, window }]);
    }
  }

  /** A master that took us for dead and is back before that was judged: it is kept until it has said what it announces. */
  #established(peer: Peer): void {
    const nextHop = canonicalText(peer.address);
    if (this.#ceased.includes(nextHop)) {
      this.#ceased = this.#ceased.filter((ceased) => ceased !== nextHop);
      this.#lost([nextHop], SAID_DEAD, CEASED_TOGETHER, () => true);
    }
    this.#sink([sessionEvent(peer, UP)]);
  }

  #down(peer: Peer, reason: DownReason): void {
    const { text } = reason;
    const session = sessionEvent(peer, DOWN, text);
    if (isBfdDown(reason)) {
      this.#saidDead(canonicalText(peer.address));
      this.#sink([session]);
    } else {
      this.#sink([...this.#changes(peer, text), session]);
    }
  }

  /**
   * The master's BFD takes us for dead. When all of them say so it is we who hung, and what they say has waited in our
   * sockets: it is read first, and then judged together.
   */
  #saidDead(nextHop: string): void {
    this.#reported.delete(nextHop);
    this.#ceased.push(nextHop);
    if (this.#ceased.length === 1) {
      setTimeout(() => {
        const nextHops = this.#ceased;
        this.#ceased = [];
        this.#lost(nextHops, SAID_DEAD, CEASED_TOGETHER, this.#mayBeDeaf);
      }, OWN_WORD);
    }
  }

  #paths(peer: Peer, refusal: string | undefined): void {
    const reason = this.#reasons.get(peer.address) ?? refusal ?? 'withdrawn by its speaker';
    this.#reasons.delete(peer.address);
    this.#sink(this.#changes(peer, reason));
  }

  #event(peer: Peer, event: PeerEvent): void {
    if (event.type === 'stale-paths-removed') {
      this.#reasons.set(peer.address, event.reason);
    } else if (event.type === 'forgotten') {
      this.#reasons.delete(peer.address);
      this.#sink(this.#changes(peer, 'its session is gone'));
      this.#reported.delete(canonicalText(peer.address));
    }
  }

  /** Level-triggered: whatever happened, what is reported becomes what the Adj-RIB-In has. */
  #changes(peer: Peer, reason: string): MembershipEvent[] {
    const nextHop = canonicalText(peer.address);
    const before = this.#reported.get(nextHop) ?? new Map<string, Reported>();
    const now = new Map(peer.paths().map((path) => [formatPrefix(path.prefix), path]));
    this.#reported.set(nextHop, new Map(now));
    const gone = [...before.keys()].filter((vip) => !now.has(vip));
    return [
      ...gone.map((vip) => ({ type: 'withdrawn', vip, nextHop, reason }) as const),
      ...[...now].flatMap(([vip, path]) => this.#pathChange(peer, vip, path, before.get(vip), reason)),
    ];
  }

  #pathChange(
    peer: Peer,
    vip: string,
    path: Path,
    before: Reported | undefined,
    reason: string,
  ): MembershipEvent[] {
    const nextHop = canonicalText(peer.address);
    if (path.isStale) {
      return before?.isStale === false ? [{ type: 'stale', vip, nextHop, reason }] : [];
    }
    if (before !== undefined && !before.isStale && before.attributes === path.attributes) {
      return [];
    }
    const { intent, why } = pathIntent(path.attributes, this.#bgp.asn);
    const identities = pathIdentities(path.attributes, this.#bgp.asn);
    return [{ type: 'announced', vip, nextHop, name: peer.name, intent, why, identities }];
  }
}

function sessionEvent(peer: Peer, session: MemberSession, reason?: string): MembershipEvent {
  const event = { type: 'session', nextHop: canonicalText(peer.address), name: peer.name, session } as const;
  return reason === undefined ? event : { ...event, reason };
}

function bfdBarrier(nextHop: string, isUp: boolean): StandingEvent {
  const reason = isUp ? undefined : 'BFD is not Up (strict)';
  return { type: 'barrier', nextHop, barrier: 'bfd', reason };
}

/** The event with the addresses that packets go to, where they are not those of the sessions. */
function atMemberAddress<E extends MembershipEvent>(event: E, neighbors: readonly NeighborConfig[]): E {
  const placeOf = (session: string): string => {
    const place = neighbors.find((one) => one.role === 'master' && one.address === session);
    return place?.role === 'master' && place.memberAddress !== 'peer' ? place.memberAddress : session;
  };
  switch (event.type) {
    case 'lost':
      return { ...event, members: event.members.map((one) => ({ ...one, nextHop: placeOf(one.nextHop) })) };
    case 'listed':
      return event;
    default:
      return { ...event, nextHop: placeOf(event.nextHop) };
  }
}

function isBfdDown({ kind, code, subcode }: DownReason): boolean {
  return (
    kind === 'notification-received' && code === NotificationCode.Cease && subcode === CeaseSubcode.BfdDown
  );
}
