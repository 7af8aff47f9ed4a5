import {
  type BfdState,
  describeBfdDiagnostic,
  formatAsn,
  formatPrefix,
  formatRouterId,
  nextHopText,
  type Path,
  type SelectedPath,
} from '@bgp-lb/protocol';
import type {
  BfdAuthenticationStatus,
  BfdSessionCounters,
  BfdSessionStatus,
  Peer,
  PeerStatus,
} from '@bgp-lb/protocol/node';
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
  /** The path identifier that it was announced with, 0 without ADD-PATH. */
  readonly pathId: number;
  readonly originatorId: string | null;
  readonly clusterList: readonly string[];
  /** `best`, `multipath`, or why it is neither. */
  readonly selection: string;
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
  /** The last ones of each neighbor. */
  readonly rejected: readonly RefusedPath[];
  readonly advertised: readonly AdvertisedRoute[];
}

/** An entry of `/api/v1/neighbors`. */
export interface NeighborStatus extends PeerStatus {
  /** The neighbor of the configuration that it belongs to. */
  readonly neighbor: string;
  readonly role: NeighborConfig['role'];
  /** `null` where BFD is not configured, or has no session with it at the moment. */
  readonly bfd: NeighborBfdStatus | null;
  readonly rejectedPaths: readonly RefusedPath[];
}

/** The BFD session with a neighbor. Durations are milliseconds. */
interface NeighborBfdStatus {
  readonly state: BfdState;
  readonly sinceMs: number;
  /** Why its state last changed on our side, and on the other (RFC 5880 section 4.1). */
  readonly diagnostic: string;
  readonly remoteDiagnostic: string | null;
  readonly remoteState: BfdState | null;
  readonly multihop: boolean;
  /** In use now, between our packets. */
  readonly transmitInterval: number;
  /** A silence of so long is death; `null` before the neighbor was heard. */
  readonly detectionTime: number | null;
  /** Why our last packet could not be sent. */
  readonly sendError: string | null;
  /** RFC 5880 section 6.7. */
  readonly authentication: BfdAuthenticationStatus;
  readonly counters: BfdSessionCounters;
}

export function neighborStatus(
  peer: Peer,
  neighbor: NeighborConfig,
  bfd: { readonly at: number; readonly session: BfdSessionStatus } | undefined,
): NeighborStatus {
  return {
    ...peer.status(),
    neighbor: neighbor.name,
    role: neighbor.role,
    bfd: bfd === undefined ? null : neighborBfdStatus(bfd.session, bfd.at),
    rejectedPaths: refusedPaths(peer),
  };
}

function neighborBfdStatus(session: BfdSessionStatus, at: number): NeighborBfdStatus {
  const { state, since, diagnostic, remote, multihop, transmitInterval, detectionTime, sendError, counters } =
    session;
  return {
    state,
    sinceMs: Math.round(at - since),
    diagnostic: describeBfdDiagnostic(diagnostic),
    remoteDiagnostic: remote === undefined ? null : describeBfdDiagnostic(remote.diagnostic),
    remoteState: remote?.state ?? null,
    multihop,
    transmitInterval,
    detectionTime: detectionTime ?? null,
    sendError: sendError ?? null,
    authentication: session.authentication,
    counters,
  };
}

/** @param selectionOf what the decision process made of the path */
export function receivedPaths(peer: Peer, now: number, selectionOf: (path: Path) => string): ReceivedPath[] {
  return peer.paths().map((path) => receivedPath(peer.name, path, now, selectionOf(path)));
}

/** A path among those to its prefix, in words. */
export function selectionText(
  path: Path,
  paths: readonly SelectedPath[],
  whyNotUsable: (path: Path) => string,
): string {
  const found = paths.find((one) => one.path.from.name === path.from.name && one.path.pathId === path.pathId);
  if (found === undefined) {
    return 'not looked at yet';
  }
  return found.reason === 'next hop unreachable' ? whyNotUsable(path) : found.reason;
}

export function refusedPaths(peer: Peer): RefusedPath[] {
  return (peer.adjRibIn?.rejected.last ?? []).map(({ prefix, reason }) => ({
    neighbor: peer.name,
    prefix: formatPrefix(prefix),
    reason,
  }));
}

function receivedPath(neighbor: string, path: Path, now: number, selection: string): ReceivedPath {
  const { asPath, localPref, communities, largeCommunities, originatorId, clusterList } = path.attributes;
  return {
    neighbor,
    prefix: formatPrefix(path.prefix),
    nextHop: nextHopText(path),
    asPath: (asPath ?? []).flatMap(({ asns }) => asns.map(formatAsn)).join(' '),
    localPref: localPref ?? null,
    communities: (communities ?? []).map((value) => `${value >>> 16}:${value & 0xffff}`),
    largeCommunities: (largeCommunities ?? []).map(
      ({ globalAdministrator, localData1, localData2 }) =>
        `${globalAdministrator}:${localData1}:${localData2}`,
    ),
    pathId: path.pathId,
    originatorId: originatorId === undefined ? null : formatRouterId(originatorId),
    clusterList: (clusterList ?? []).map(formatRouterId),
    selection,
    stale: path.isStale,
    ageMs: Math.round(now - path.learnedAt),
  };
}
