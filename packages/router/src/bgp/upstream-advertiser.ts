import {
  type IpAddress,
  Origin,
  type PathAttributes,
  parseIpAddress,
  parsePrefix,
  pathAttributes,
  type Route,
  SegmentType,
} from '@bgp-lb/protocol';
import type { Peer } from '@bgp-lb/protocol/node';
import type { BgpNeighbors } from './bgp-neighbors.ts';
import { familyOfAddress, localAddressOf } from './neighbor-options.ts';
import type { RouteAdvertiser } from './route-advertiser.ts';

/** LOCAL_PREF towards an upstream in our own AS (RFC 4271 section 5.1.5 wants one there). */
const LOCAL_PREF = 100;

/** A route as an upstream has it, for people. */
export interface AdvertisedRoute {
  readonly neighbor: string;
  readonly prefix: string;
  readonly nextHop: string;
}

/**
 * Originates the VIPs towards the neighbours of role `upstream`: next hop self, ORIGIN IGP, and attributes that do
 * not change with the members. A VIP is there while it is forwarded to somebody, and nothing else ever leaves.
 */
export class UpstreamAdvertiser implements RouteAdvertiser {
  #bgp: BgpNeighbors;
  #advertised = new Set<string>();
  /** Addresses of upstreams that get nothing until their BFD is Up. */
  #waiting = new Set<string>();

  constructor(bgp: BgpNeighbors) {
    this.#bgp = bgp;
    // In this handler: what is set here is part of what comes before the End-of-RIB.
    bgp.own('upstream', { established: (peer) => this.#update(peer) });
  }

  setAdvertised(vip: string, isAdvertised: boolean): void {
    if (this.#advertised.has(vip) === isAdvertised) {
      return;
    }
    if (isAdvertised) {
      this.#advertised.add(vip);
    } else {
      this.#advertised.delete(vip);
    }
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

  /** What the established upstreams have. */
  advertised(): AdvertisedRoute[] {
    return this.#bgp.peers('upstream').flatMap(({ peer }) => {
      const nextHop = localAddressOf(peer);
      return nextHop === undefined
        ? []
        : this.#vipsOf(peer).map((prefix) => ({ neighbor: peer.name, prefix, nextHop }));
    });
  }

  #update(peer: Peer): void {
    const local = localAddressOf(peer);
    if (local === undefined) {
      return;
    }
    const attributes = attributesFor(peer, this.#bgp, parseIpAddress(local));
    const routes = this.#vipsOf(peer).map((vip): Route => ({ prefix: parsePrefix(vip), attributes }));
    peer.setRoutes(familyOfAddress(peer.address), routes);
  }

  #vipsOf(peer: Peer): string[] {
    if (this.#waiting.has(peer.address)) {
      return [];
    }
    return [...this.#advertised]
      .filter((vip) => familyOfAddress(vip) === familyOfAddress(peer.address))
      .sort();
  }
}

function attributesFor(peer: Peer, bgp: BgpNeighbors, nextHop: IpAddress): PathAttributes {
  return peer.isInternal
    ? pathAttributes({ origin: Origin.Igp, asPath: [], nextHop, localPref: LOCAL_PREF })
    : pathAttributes({
        origin: Origin.Igp,
        asPath: [{ type: SegmentType.AsSequence, asns: [bgp.asn] }],
        nextHop,
      });
}
