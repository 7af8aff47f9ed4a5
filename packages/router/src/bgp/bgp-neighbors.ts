import { checkBfdPassword } from '@bgp-lb/daemon';
import {
  type Asn,
  type BfdKey,
  type Family,
  hostPrefix,
  type Negotiated,
  type Path,
  type PrefixKey,
  parsePrefix,
  prefixKey,
  type RouteChange,
  type RouterId,
  type Selection,
} from '@bgp-lb/protocol';
import {
  BgpSpeaker,
  bfdNonce,
  type Clock,
  type DownReason,
  negotiatedBfdKey,
  type Peer,
  type PeerEvent,
  Reflection,
  type ReflectionRole,
  type Sockets,
  type Traffic,
} from '@bgp-lb/protocol/node';
import { type NeighborChanges, planNeighbors } from '../config/neighbor-changes.ts';
import type { NeighborConfig, RouterConfig } from '../config/router-config.ts';
import { announcedVips } from '../config/vip-endpoint.ts';
import { familyOfAddress, type NeighborContext, neighborOptions } from './neighbor-options.ts';

/** What the owner of one role's neighbors is told, in the tick in which it happens. */
export interface NeighborHandlers {
  established?(peer: Peer): void;
  down?(peer: Peer, reason: DownReason): void;
  /** Its paths are not as they were. @param refusal why one that takes the place of another was refused, where that is so */
  paths?(peer: Peer, refusal: string | undefined): void;
  endOfRib?(peer: Peer, family: Family): void;
  event?(peer: Peer, event: PeerEvent): void;
}

export interface BgpNeighborsOptions {
  readonly asn: Asn;
  readonly routerId: RouterId;
  readonly clusterId: RouterId;
  readonly neighbors: readonly NeighborConfig[];
  readonly listen: { readonly addresses: readonly string[]; readonly port: number };
  readonly context: Pick<NeighborContext, 'config'>;
  /** Addresses of the VIPs. */
  readonly vips: readonly string[];
  /** Reads a password file. Throws SecretError. */
  readonly readPassword: (file: string) => string;
  readonly sockets: Sockets;
  readonly clock: Clock;
  /** A path of this neighbor may be told to others. */
  readonly isUsable: (path: Path, neighbor: NeighborConfig) => boolean;
  /** Everything that happens with any neighbor, and with connections of unknown addresses (`undefined`). */
  readonly observe: (peer: Peer | undefined, event: PeerEvent) => void;
  /** Adj-RIB-In changes of any neighbor, refused paths among them. */
  readonly observeRoutes: (peer: Peer, change: RouteChange) => void;
  /** Every message with any neighbor, as octets. */
  readonly traffic?: (peer: Peer, traffic: Traffic) => void;
  /** A session is there, before anything of it is handled. */
  readonly established: (peer: Peer, neighbor: NeighborConfig) => void;
  /** A session is gone. */
  readonly down: (peer: Peer) => void;
  /** A listener that is left out, with the reason. */
  readonly onSkippedListener: (address: string, reason: string) => void;
}

/** Connections that may wait for us: an LB that boots last is met by all masters at the same moment. */
const BACKLOG = 1024;

/** The BGP speaker with its neighbors, each told to the owner of its role. */
export class BgpNeighbors {
  #options: BgpNeighborsOptions;
  #neighbors: readonly NeighborConfig[];
  #byName: ReadonlyMap<string, NeighborConfig>;
  /** Prefixes of the VIPs. */
  #vips: ReadonlySet<PrefixKey>;
  /** What connections of a neighbor are signed with, as last read, by name. */
  #passwords = new Map<string, string | undefined>();
  readonly #bfdNonce = bfdNonce();
  #speaker: BgpSpeaker;
  #reflection: Reflection;
  #handlers = new Map<NeighborConfig['role'], NeighborHandlers>();
  #isTakingOver = false;
  #isStopped = false;

  constructor(options: BgpNeighborsOptions) {
    this.#options = options;
    this.#neighbors = options.neighbors;
    this.#byName = byName(options.neighbors);
    this.#vips = keysOf(options.vips);
    this.#speaker = new BgpSpeaker({
      asn: options.asn,
      routerId: options.routerId,
      clusterId: options.clusterId,
      sockets: options.sockets,
      clock: options.clock,
      handlers: {
        established: (peer, negotiated) => this.#established(peer, negotiated),
        down: (peer, reason) => this.#down(peer, reason),
        routes: (peer, change) => this.#routes(peer, change),
        endOfRib: (peer, family) => this.#handlersOf(peer)?.endOfRib?.(peer, family),
        event: (peer, event) => this.#event(peer, event),
        ...(options.traffic && { traffic: options.traffic }),
      },
    });
    this.#reflection = new Reflection({
      speaker: this.#speaker,
      clusterId: options.clusterId,
      roleOf: (peer) => roleInReflection(this.neighborOf(peer)),
      decision: { isReachable: (path) => this.#isUsable(path) },
    });
  }

  get asn(): Asn {
    return this.#options.asn;
  }

  get clusterId(): RouterId {
    return this.#options.clusterId;
  }

  get neighbors(): readonly NeighborConfig[] {
    return this.#neighbors;
  }

  /** Connections that were turned away because no neighbor is configured at their address, or its range is full. */
  get rejectedConnections(): number {
    return this.#speaker.rejectedConnections;
  }

  /** Says who owns the neighbors of a role. Before `start`. */
  own(role: NeighborConfig['role'], handlers: NeighborHandlers): void {
    this.#handlers.set(role, handlers);
  }

  /** This process takes over forwarding that was there before it: upstreams are told (the R bit of RFC 4724). Before `start`. */
  takeOver(): void {
    this.#isTakingOver = true;
  }

  /** Listens, and adds all neighbors. Rejects when a listener cannot be had. */
  async start(): Promise<void> {
    const { neighbors, listen } = this.#options;
    this.#passwords = this.readPasswords(neighbors);
    for (const neighbor of neighbors) {
      this.#add(neighbor, this.#isTakingOver);
    }
    for (const address of listen.addresses) {
      await this.#listen(address, listen.port);
    }
  }

  /** The passwords of neighbors by name. @throws SecretError for a file that cannot be used */
  readPasswords(neighbors: readonly NeighborConfig[]): Map<string, string | undefined> {
    const { readPassword } = this.#options;
    return new Map(
      neighbors.map(({ name, passwordFile: file, bfd }) => [
        name,
        file === undefined ? undefined : checkBfdPassword(file, readPassword(file), bfd),
      ]),
    );
  }

  /** What new connections of a neighbor are signed with, by its name. */
  passwordOf(name: string): string | undefined {
    return this.#passwords.get(name);
  }

  /** The key of BFD that the session with a peer agreed on. */
  bfdKeyOf(peer: Peer): BfdKey | undefined {
    return negotiatedBfdKey(peer.negotiated, this.passwordOf(peer.range ?? peer.name));
  }

  /**
   * Sessions with the neighbors of this configuration; those with neighbors that are as they were are not touched. An established
   * session keeps its password: another one is for the next connection (RFC 2385).
   * @param passwords of `readPasswords`
   */
  configure(
    { neighbors }: Pick<RouterConfig, 'neighbors'>,
    passwords: Map<string, string | undefined>,
  ): NeighborChanges {
    const plan = planNeighbors(this.#neighbors, neighbors);
    const before = this.#passwords;
    // While those that go are still known: their owner hears of it.
    for (const { name } of [...plan.removed, ...plan.changed.map(({ from }) => from)]) {
      this.#remove(name);
    }
    this.#neighbors = neighbors;
    this.#byName = byName(neighbors);
    this.#passwords = passwords;
    const added = [...plan.added, ...plan.changed.map(({ to }) => to)];
    for (const neighbor of added) {
      this.#add(neighbor, false);
    }
    const fresh = new Set(added.map(({ name }) => name));
    const rotated = neighbors
      .map(({ name }) => name)
      .filter((name) => !fresh.has(name) && before.get(name) !== passwords.get(name));
    for (const name of rotated) {
      this.#speaker.setAcceptPassword(name, passwords.get(name));
    }
    return {
      added: plan.added.map(({ name }) => name),
      removed: plan.removed.map(({ name }) => name),
      changed: plan.changed.map(({ to }) => to.name),
      updated: [...new Set([...plan.updated.map(({ name }) => name), ...rotated])],
    };
  }

  /**
   * Takes paths to the VIPs of this configuration that masters may announce. Those to others go. Neighbors of whom announcements were refused are asked for all that they
   * have once more (RFC 2918 section 3), when there are VIPs that were none: one of these may have been among it.
   * @returns names of the peers that have to be asked and cannot be: their next session brings it
   */
  configureImport(config: Pick<RouterConfig, 'vips'>): readonly string[] {
    const vips = announcedVips(config);
    const before = this.#vips;
    this.#vips = keysOf(vips);
    const added = vips.filter((address) => !before.has(keyOf(address)));
    const families = new Set(added.map(familyOfAddress));
    const importing = this.peers().filter(({ neighbor }) => neighbor.role !== 'upstream');
    const unable: string[] = [];
    for (const { peer } of importing) {
      peer.reapplyImportPolicy();
      const { negotiated, adjRibIn } = peer;
      const wanted = negotiated?.context.families.filter((family) => families.has(family)) ?? [];
      if (wanted.length === 0 || adjRibIn?.rejected.count === 0) continue;
      if (negotiated?.routeRefresh !== true) unable.push(peer.name);
      for (const family of wanted) peer.requestRefresh(family);
    }
    return unable;
  }

  #add(neighbor: NeighborConfig, isRestarting: boolean): void {
    const made = neighborOptions(neighbor, {
      ...this.#options.context,
      isRestarting,
      isVip: (prefix) => this.#vips.has(prefixKey(prefix)),
      passwordOf: (name) => this.passwordOf(name),
      bfdNonce: this.#bfdNonce,
    });
    if (made.kind === 'range') {
      this.#speaker.addRange(made.options);
    } else {
      this.#speaker.addPeer(made.options);
    }
  }

  #remove(name: string): void {
    const peer = this.#speaker.peer(name);
    if (this.#byName.get(name)?.role === 'master' && peer === undefined) {
      void this.#speaker.removeRange(name);
    } else if (peer !== undefined) {
      void this.#speaker.removePeer(peer);
    }
  }

  /** Closes TCP without NOTIFICATION: neighbors with graceful restart keep what they have (RFC 4724). */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#speaker.close({ keepForwarding: true });
  }

  peers(role?: NeighborConfig['role']): { readonly peer: Peer; readonly neighbor: NeighborConfig }[] {
    return this.#speaker.peers().flatMap((peer) => {
      const neighbor = this.neighborOf(peer);
      return neighbor !== undefined && (role === undefined || neighbor.role === role)
        ? [{ peer, neighbor }]
        : [];
    });
  }

  /** The neighbor of the configuration that a peer belongs to. */
  neighborOf(peer: Peer): NeighborConfig | undefined {
    return this.#byName.get(peer.range ?? peer.name);
  }

  /** What is made of the paths to a VIP (`10.100.0.1/32`). */
  select(vip: string): Selection {
    return this.#reflection.select(parsePrefix(vip));
  }

  /** The identifier that a path of `select` has towards neighbors with ADD-PATH. */
  pathId(path: Path): number {
    return this.#reflection.pathId(path);
  }

  /** What `isUsable` says of the paths to a VIP is not as it was. */
  touch(vip: string): void {
    this.#reflection.touch(parsePrefix(vip));
  }

  #isUsable(path: Path): boolean {
    const peer = this.#speaker.peer(path.from.name);
    const neighbor = peer === undefined ? undefined : this.neighborOf(peer);
    return neighbor !== undefined && this.#options.isUsable(path, neighbor);
  }

  async #listen(address: string, port: number): Promise<void> {
    try {
      await this.#speaker.listen({ address, port, backlog: BACKLOG });
    } catch (error) {
      // A host without IPv6: what was configured by default must not keep it from starting.
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      const errno = error instanceof Error && 'errno' in error ? String(error.errno) : '';
      const isAbsent = ['EAFNOSUPPORT', 'EADDRNOTAVAIL'].some((name) => code === name || errno === name);
      if (!(address === '::' && isAbsent)) {
        throw error;
      }
      this.#options.onSkippedListener(address, error instanceof Error ? error.message : String(error));
    }
  }

  #established(peer: Peer, negotiated: Negotiated): void {
    const neighbor = this.neighborOf(peer);
    if (neighbor !== undefined && !this.#isStopped) {
      this.#options.established(peer, neighbor);
    }
    this.#handlersOf(peer)?.established?.(peer);
    this.#reflection.established(peer, negotiated);
  }

  #down(peer: Peer, reason: DownReason): void {
    if (!this.#isStopped) this.#options.down(peer);
    this.#reflection.down(peer);
    this.#handlersOf(peer)?.down?.(peer, reason);
  }

  #routes(peer: Peer, change: RouteChange): void {
    if (this.#isStopped) {
      return;
    }
    // Only noted: others are told when everything is read.
    this.#reflection.routes(peer, change);
    // The owner, who changes the kernel, before those who watch.
    this.#handlersOf(peer)?.paths?.(peer, refusalOf(change));
    this.#options.observeRoutes(peer, change);
  }

  #event(peer: Peer | undefined, event: PeerEvent): void {
    if (this.#isStopped) {
      return;
    }
    this.#options.observe(peer, event);
    if (peer !== undefined) {
      this.#handlersOf(peer)?.event?.(peer, event);
    }
  }

  #handlersOf(peer: Peer): NeighborHandlers | undefined {
    // The sessions that `stop` closes must not empty the pool: the kernel forwards on.
    const neighbor = this.#isStopped ? undefined : this.neighborOf(peer);
    return neighbor === undefined ? undefined : this.#handlers.get(neighbor.role);
  }
}

/** A path that import policy refuses takes the place of the one before it (RFC 4271 section 9.1). */
function refusalOf({ withdrawn, rejected }: RouteChange): string | undefined {
  return withdrawn.length > 0 ? rejected[0]?.reason : undefined;
}

function keysOf(vips: readonly string[]): ReadonlySet<PrefixKey> {
  return new Set(vips.map(keyOf));
}

function keyOf(vip: string): PrefixKey {
  return prefixKey(parsePrefix(hostPrefix(vip)));
}

function byName(neighbors: readonly NeighborConfig[]): ReadonlyMap<string, NeighborConfig> {
  return new Map(neighbors.map((neighbor) => [neighbor.name, neighbor]));
}

/** Masters are the clients that this reflector is for; upstreams are told elsewhere, and tell nothing. */
function roleInReflection(neighbor: NeighborConfig | undefined): ReflectionRole | undefined {
  if (neighbor === undefined || neighbor.role === 'upstream') {
    return undefined;
  }
  return { isClient: neighbor.role === 'master' || neighbor.client, isTold: true };
}
