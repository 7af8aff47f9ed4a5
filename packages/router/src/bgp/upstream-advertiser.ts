import {
  formatPrefix,
  formatScoped,
  hostPrefix,
  isLinkLocal,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
  type Route,
  reflectionRefusal,
  withoutZone,
  zoneOf,
} from '@bgp-lb/protocol';
import type { Peer } from '@bgp-lb/protocol/node';
import type { RouterConfig, UpstreamNeighborConfig } from '../config/router-config.ts';
import type { DrainPhase } from '../drain/host-drain.ts';
import type { BgpNeighbors } from './bgp-neighbors.ts';
import { asLeaving, withExportPolicy } from './export-policy.ts';
import { familyOfAddress, localAddressOf } from './neighbor-options.ts';
import type { CarriedBy, RouteAdvertiser } from './route-advertiser.ts';
import { memberAttributes, type NextHop, originatedAttributes } from './upstream-routes.ts';

/** A route as a neighbor has it, for people. */
export interface AdvertisedRoute {
  readonly neighbor: string;
  readonly prefix: string;
  readonly nextHop: string;
  /** The path identifier, where the neighbor takes them (RFC 7911). */
  readonly pathId: number | null;
}

/** What one upstream has of a VIP: what our Adj-RIB-Out for its Established session holds (RFC 4271 section 3.2). */
export interface UpstreamAdvertisement {
  /** Name of the neighbor. */
  readonly upstream: string;
  readonly advertised: boolean;
  /** Why it is not; empty where it is. */
  readonly reason: string;
}

/**
 * Tells the neighbors of role `upstream` of the VIPs. With `nextHop: self` a VIP is originated, ORIGIN IGP, with
 * attributes that do not change with the members; with `unchanged` each member of the pool is passed on. A VIP is there
 * while it is forwarded to a member, and nothing else ever leaves.
 */
export class UpstreamAdvertiser implements RouteAdvertiser {
  #bgp: BgpNeighbors;
  #globalAddressOn: (zone: string) => string | undefined;
  /** How many members each VIP that is advertised is forwarded to. */
  #advertised = new Map<string, number>();
  /** Why a VIP is not to be advertised. */
  #withheld = new Map<string, string>();
  /** This load balancer leaves: how far it is. */
  #drain: DrainPhase = 'none';
  /** Addresses of upstreams that get nothing until their BFD is Up. */
  #waiting = new Set<string>();

  /** @param globalAddressOn a global address of this host on an interface; `undefined` without one */
  constructor(bgp: BgpNeighbors, globalAddressOn: (zone: string) => string | undefined = () => undefined) {
    this.#bgp = bgp;
    this.#globalAddressOn = globalAddressOn;
    // In this handler: what is set here is part of what comes before the End-of-RIB.
    bgp.own('upstream', { established: (peer) => this.#update(peer) });
  }

  setAdvertised(vips: ReadonlyMap<string, CarriedBy>): void {
    for (const [vip, { members, withheld = 'it is forwarded to no member' }] of vips) {
      if (members > 0) {
        this.#advertised.set(vip, members);
        this.#withheld.delete(vip);
      } else {
        this.#advertised.delete(vip);
        this.#withheld.set(vip, withheld);
      }
    }
    // Also when nothing has changed for a VIP: its members may have.
    this.refresh();
  }

  /** VIPs that are not in the configuration are withdrawn, and the others advertised by the export policy as it is now. */
  configure({ vips }: Pick<RouterConfig, 'vips'>): void {
    const known = new Set(vips.map(({ address }) => hostPrefix(address)));
    for (const map of [this.#advertised, this.#withheld]) {
      for (const vip of map.keys()) if (!known.has(vip)) map.delete(vip);
    }
    this.refresh();
  }

  /** This load balancer leaves, or serves again: upstreams are told with the next `setAdvertised` or `refresh`. */
  setDrain(phase: DrainPhase): void {
    this.#drain = phase;
  }

  /** What upstreams are told of the VIPs is not as it was: only differences are sent. */
  refresh(): void {
    for (const { peer } of this.#bgp.peers('upstream')) {
      this.#update(peer);
    }
  }

  /** An upstream that must have BFD has it, or not. */
  setBfdUp(address: string, isUp: boolean): void {
    if (isUp) {
      this.#waiting.delete(address);
    } else {
      this.#waiting.add(address);
    }
    for (const { peer } of this.#bgp.peers('upstream').filter((one) => one.peer.address === address)) {
      this.#update(peer);
    }
  }

  /** What the established neighbors have, reflected paths too. */
  advertised(): AdvertisedRoute[] {
    return this.#bgp.peers().flatMap(({ peer }) => {
      const addPath = peer.negotiated?.context.addPathSend;
      return peer.state !== 'Established'
        ? []
        : peer.advertised().map(({ prefix, attributes: { nextHop }, pathId = 0 }) => ({
            neighbor: peer.name,
            prefix: formatPrefix(prefix),
            nextHop: nextHop === undefined ? '' : formatScoped(nextHop, zoneOf(peer.address)),
            pathId: addPath?.includes(prefix.family) === true ? pathId : null,
          }));
    });
  }

  /** What each upstream has of a VIP (`10.100.0.1/32`), and why one has nothing. */
  advertisements(vip: string): UpstreamAdvertisement[] {
    return this.#bgp.peers('upstream').map(({ peer }) => {
      const has =
        peer.state === 'Established' && peer.advertised().some(({ prefix }) => formatPrefix(prefix) === vip);
      return { upstream: peer.name, advertised: has, reason: has ? '' : this.#whyNot(peer, vip) };
    });
  }

  /** The first that holds, in the order in which a route comes into being. */
  #whyNot(peer: Peer, vip: string): string {
    const family = familyOfAddress(vip);
    if (peer.state !== 'Established') return `the BGP session is ${peer.state}`;
    if (this.#drain === 'withdrawn') return 'this load balancer is drained';
    if (!this.#advertised.has(vip)) return this.#withheld.get(vip) ?? 'the VIP is not served yet';
    if (this.#waiting.has(peer.address))
      return 'BFD with the upstream is not Up, which `bfd.strict` asks for';
    if (peer.negotiated?.context.families.includes(family) !== true) {
      return `the session does not carry ${family.name}`;
    }
    return peer.status().prefixes.unsent > 0
      ? 'the UPDATE is larger than the upstream takes'
      : 'no path of a member can be passed on to it';
  }

  #update(peer: Peer): void {
    const local = localAddressOf(peer);
    const neighbor = this.#bgp.neighborOf(peer);
    if (local === undefined || neighbor?.role !== 'upstream') {
      return;
    }
    for (const ours of [local, ...(neighbor.otherNextHop === undefined ? [] : [neighbor.otherNextHop])]) {
      const family = familyOfAddress(ours);
      const vips = this.#vipsFor(peer).filter((vip) => familyOfAddress(vip) === family);
      peer.setRoutes(
        family,
        vips.flatMap((vip) => this.#routesOf(peer, neighbor, vip, ours)),
      );
    }
  }

  /** @param ours the next hop where that is this host */
  #routesOf(peer: Peer, neighbor: UpstreamNeighborConfig, vip: string, ours: string): Route[] {
    const { asn: localAsn, clusterId } = this.#bgp;
    const prefix = parsePrefix(vip);
    const members = this.#advertised.get(vip) ?? 0;
    const asTold = (attributes: PathAttributes): PathAttributes => {
      const told = withExportPolicy(attributes, neighbor, localAsn, members);
      return this.#drain === 'none' ? told : asLeaving(told);
    };
    if (neighbor.nextHop === 'unchanged') {
      return this.#members(peer, vip).map((selected) => ({
        prefix,
        attributes: asTold(memberAttributes(selected, { localAsn, clusterId }, neighbor.passCommunities)),
        pathId: this.#bgp.pathId(selected.path),
      }));
    }
    const originated = originatedAttributes(localAsn, this.#nextHop(ours));
    return [{ prefix, attributes: asTold(originated) }];
  }

  /** On a link-local session there is a global address too, where the link has one of ours (RFC 2545 section 3). */
  #nextHop(ours: string): NextHop {
    const address = parseIpAddress(withoutZone(ours));
    const zone = isLinkLocal(address) ? zoneOf(ours) : undefined;
    const global = zone === undefined ? undefined : this.#globalAddressOn(zone);
    return global === undefined ? { address } : { address: parseIpAddress(global), linkLocal: address };
  }

  /** The members that a VIP is forwarded to, the best path first: an upstream without ADD-PATH gets that. */
  #members(peer: Peer, vip: string): ReturnType<BgpNeighbors['select']>['paths'] {
    const routerId = peer.negotiated?.remoteOpen.bgpIdentifier;
    if (routerId === undefined) {
      return [];
    }
    const zone = zoneOf(peer.address);
    const to = { name: peer.name, routerId, isInternal: false, isClient: false, zone };
    return this.#bgp.select(vip).paths.filter(({ path, reason }) => {
      const isOfMaster = this.#bgp.peers('master').some((master) => master.peer.name === path.from.name);
      const isForwardedTo = reason !== 'next hop unreachable' && reason !== 'same next hop as a better path';
      return isOfMaster && isForwardedTo && reflectionRefusal(path, { isClient: true }, to) === undefined;
    });
  }

  #vipsFor(peer: Peer): string[] {
    const isNothing = this.#waiting.has(peer.address) || this.#drain === 'withdrawn';
    return isNothing ? [] : [...this.#advertised.keys()].sort();
  }
}
