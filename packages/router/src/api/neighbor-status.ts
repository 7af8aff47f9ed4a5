import { formatAsn, formatIpAddress, formatPrefix, type Path } from '@bgp-lb/protocol';
import type { Peer, PeerStatus } from '@bgp-lb/protocol/node';
import type { AdvertisedRoute } from '../bgp/upstream-advertiser.ts';
import type { NeighborConfig } from '../config/router-config.ts';

/** A path in `/api/v1/routes`. */
export interface ReceivedPath {
  /** Name of the peer. */
  readonly neighbor: string;
  readonly prefix: string;
  readonly nextHop: string;
  readonly asPath: string;
  readonly localPref: number | null;
  /** `65535:0` */
  readonly communities: readonly string[];
  /** `64512:2:1` */
  readonly largeCommunities: readonly string[];
  readonly stale: boolean;
  readonly ageMs: number;
}

/** An announcement that was not taken. */
export interface RefusedPath {
  readonly neighbor: string;
  readonly prefix: string;
  readonly reason: string;
}

/** `/api/v1/routes` */
export interface RouterRoutes {
  readonly received: readonly ReceivedPath[];
  /** The last ones of each neighbour. */
  readonly rejected: readonly RefusedPath[];
  readonly advertised: readonly AdvertisedRoute[];
}

/** An entry of `/api/v1/neighbors`. */
export interface NeighborStatus extends PeerStatus {
  /** The neighbour of the configuration that it belongs to. */
  readonly neighbor: string;
  readonly role: NeighborConfig['role'];
  readonly rejectedPaths: readonly RefusedPath[];
}

export function neighborStatus(peer: Peer, neighbor: NeighborConfig): NeighborStatus {
  return {
    ...peer.status(),
    neighbor: neighbor.name,
    role: neighbor.role,
    rejectedPaths: refusedPaths(peer),
  };
}

export function receivedPaths(peer: Peer, now: number): ReceivedPath[] {
  return peer.paths().map((path) => receivedPath(peer.name, path, now));
}

export function refusedPaths(peer: Peer): RefusedPath[] {
  return (peer.adjRibIn?.rejected.last ?? []).map(({ prefix, reason }) => ({
    neighbor: peer.name,
    prefix: formatPrefix(prefix),
    reason,
  }));
}

function receivedPath(neighbor: string, path: Path, now: number): ReceivedPath {
  const { nextHop, asPath, localPref, communities, largeCommunities } = path.attributes;
  return {
    neighbor,
    prefix: formatPrefix(path.prefix),
    nextHop: nextHop === undefined ? '' : formatIpAddress(nextHop),
    asPath: (asPath ?? []).flatMap(({ asns }) => asns.map(formatAsn)).join(' '),
    localPref: localPref ?? null,
    communities: (communities ?? []).map((value) => `${value >>> 16}:${value & 0xffff}`),
    largeCommunities: (largeCommunities ?? []).map(
      ({ globalAdministrator, localData1, localData2 }) =>
        `${globalAdministrator}:${localData1}:${localData2}`,
    ),
    stale: path.isStale,
    ageMs: Math.round(now - path.learnedAt),
  };
}
