import {
  type DecisionOptions,
  type Negotiated,
  type Path,
  type Prefix,
  type RouteChange,
  RouteReflector,
  type RouterId,
  type Selection,
  zoneOf,
} from '../index.ts';
import type { Peer } from './peer.ts';
import type { BgpSpeaker } from './speaker.ts';

/** What a peer is to a reflector. */
export interface ReflectionRole {
  /** A client of RFC 4456, where the peer is internal. */
  readonly isClient: boolean;
  /** The peer is told of the others' paths. Its own are passed on in any case. */
  readonly isTold: boolean;
}

export interface ReflectionOptions {
  readonly speaker: BgpSpeaker;
  /** CLUSTER_ID; the speaker must have the same, to find loops. */
  readonly clusterId: RouterId;
  /** `undefined` for a peer that has no part in it. */
  readonly roleOf: (peer: Peer) => ReflectionRole | undefined;
  readonly decision?: DecisionOptions;
  /** Runs something once what was received so far is read, so that many UPDATEs make one change. Default setImmediate. */
  readonly afterReading?: (run: () => void) => void;
}

/**
 * Passes the paths of a speaker's peers on to the others (RFC 4456, RFC 7911). The owner calls `established`, `down` and
 * `routes` from the handlers of the speaker by the same names.
 */
export class Reflection {
  readonly #options: ReflectionOptions;
  readonly #reflector: RouteReflector;
  readonly #told = new Map<string, Peer>();
  #isPlanned = false;

  constructor(options: ReflectionOptions) {
    this.#options = options;
    const { speaker, clusterId, decision } = options;
    this.#reflector = new RouteReflector({
      localAsn: speaker.asn,
      clusterId,
      table: speaker.attributeTable,
      ...(decision === undefined ? {} : { decision }),
    });
  }

  established(peer: Peer, { context, remoteOpen }: Negotiated): void {
    const role = this.#options.roleOf(peer);
    if (role?.isTold !== true) return;
    const { name, isInternal } = peer;
    const members = this.#reflector.addPeer({
      name,
      isInternal,
      isClient: role.isClient,
      routerId: remoteOpen.bgpIdentifier,
      zone: zoneOf(peer.address),
      context,
    });
    this.#told.set(name, peer);
    for (const member of members) peer.follow(member);
  }

  down(peer: Peer): void {
    this.#told.delete(peer.name);
    this.#reflector.removePeer(peer.name);
  }

  routes(peer: Peer, change: RouteChange): void {
    const role = this.#options.roleOf(peer);
    if (role === undefined) return;
    this.#reflector.apply({ name: peer.name, isClient: role.isClient }, change);
    this.#plan();
  }

  /** What `decision` says about the paths of this prefix is not as it was. */
  touch(prefix: Prefix): void {
    this.#reflector.touch(prefix);
    this.#plan();
  }

  /** What is made of the paths of a prefix. */
  select(prefix: Prefix): Selection {
    return this.#reflector.select(prefix);
  }

  /** The identifier that a path of `select` has towards peers with ADD-PATH. */
  pathId(path: Path): number {
    return this.#reflector.pathId(path);
  }

  /** The prefixes that there are paths of. */
  prefixes(): IterableIterator<Prefix> {
    return this.#reflector.prefixes();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    (this.#options.afterReading ?? setImmediate)(() => {
      this.#isPlanned = false;
      this.#flush();
    });
  }

  #flush(): void {
    for (const { name } of this.#reflector.flush()) this.#told.get(name)?.sendNews();
  }
}
