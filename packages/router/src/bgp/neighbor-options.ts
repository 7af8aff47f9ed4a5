import { capabilitySwitches } from '@bgp-lb/daemon';
import {
  asn,
  canonicalScoped,
  type Family,
  ipVersion,
  ipv4Unicast,
  ipv6Unicast,
  parseIpAddress,
} from '@bgp-lb/protocol';
import type { Peer, PeerOptions, PeerRangeOptions, PeerSettings } from '@bgp-lb/protocol/node';
import type {
  MasterNeighborConfig,
  NeighborConfig,
  RouterConfig,
  UpstreamNeighborConfig,
} from '../config/router-config.ts';
import {
  type IsVip,
  internalImportPolicy,
  masterImportPolicy,
  upstreamImportPolicy,
} from '../membership/import-policy.ts';

/** What the peers' options follow from, besides the neighbor. */
export interface NeighborContext {
  readonly config: Pick<RouterConfig, 'pool'>;
  /** Whether a prefix is that of a VIP, as it is at the moment. */
  readonly isVip: IsVip;
  /** What connections of a neighbor are signed with, by its name, as it is at the moment. */
  readonly passwordOf: (name: string) => string | undefined;
  /** What this process puts into the keys of BFD. */
  readonly bfdNonce: Uint8Array;
  /** This process takes over forwarding that was there before it: upstreams are told (the R bit of RFC 4724). */
  readonly isRestarting: boolean;
}

/** How long an upstream is asked to keep the VIPs while this process restarts (RFC 4724), in seconds. */
const RESTART_TIME = 15;
/** The most paths of an internal router: it may send several of each VIP, and choosing among them takes time. */
const INTERNAL_MAX_PATHS = 256;
/** The longest wait before the next attempt to connect to an upstream, in seconds. */
const CONNECT_RETRY_TIME = 5;

/** A neighbor of the configuration as the BGP library takes it. */
export type NeighborOptions =
  | { readonly kind: 'range'; readonly options: PeerRangeOptions }
  | { readonly kind: 'peer'; readonly options: PeerOptions };

export function neighborOptions(neighbor: NeighborConfig, context: NeighborContext): NeighborOptions {
  const { name } = neighbor;
  if (neighbor.role === 'upstream') {
    const { address, port, passive } = neighbor;
    const keeps = neighbor.gracefulRestart ?? neighbor.bfd === false;
    const families = upstreamFamilies(neighbor);
    const options = sessionOptions(
      neighbor,
      settings(neighbor, families, context),
      upstreamSettings(families, keeps, context),
    );
    return { kind: 'peer', options: { ...options, name, address, port, passive } };
  }
  if (neighbor.role === 'internal') {
    const { address, port, passive } = neighbor;
    const families = [familyOfAddress(address)];
    const options = sessionOptions(
      neighbor,
      settings(neighbor, families, context),
      internalSettings(neighbor, context),
    );
    return { kind: 'peer', options: { ...options, name, address, port, passive } };
  }
  const { range, address, maxSessions } = neighbor;
  const families = [familyOfAddress(range ?? address ?? '')];
  const options = sessionOptions(
    neighbor,
    settings(neighbor, families, context),
    masterSettings(neighbor, families, context),
  );
  if (range !== undefined) {
    return { kind: 'range', options: { ...options, name, range, maxSessions } };
  }
  if (address === undefined) {
    throw new RangeError(`neighbor ${name}: has neither range nor address`);
  }
  // The speakers connect: there is no collision to resolve, and a master that is not there costs nothing.
  return { kind: 'peer', options: { ...options, name, address, passive: true } };
}

/** The families that an upstream's session carries: that of its address, and the other where we have a next hop for it. */
function upstreamFamilies({
  address,
  otherNextHop,
}: Pick<UpstreamNeighborConfig, 'address' | 'otherNextHop'>): readonly Family[] {
  return [address, ...(otherNextHop === undefined ? [] : [otherNextHop])].map(familyOfAddress);
}

/** The family that a master's or internal router's sessions carry: that of its addresses, since it is itself the next hop. */
export function familyOfAddress(text: string): Family {
  return ipVersion(text) === 6 ? ipv6Unicast : ipv4Unicast;
}

/** An address as all of the router writes it; a link-local one with its interface. */
export function canonicalText(address: string): string {
  return canonicalScoped(address);
}

function settings(
  neighbor: NeighborConfig,
  families: readonly Family[],
  context: NeighborContext,
): PeerSettings {
  const { name, asn: remote, ttlSecurityHops, holdTime } = neighbor;
  const password = context.passwordOf(name);
  return {
    ...(offersBfdAuthentication(neighbor, password) && { bfdAuthentication: context.bfdNonce }),
    remoteAsn: remote === 'external' ? remote : [remote].flat().map((number) => asn(number)),
    families,
    acceptAsSet: neighbor.acceptAsSet,
    addPathSend: neighbor.addPath ? families : [],
    holdTime: Math.round(holdTime / 1000),
    connectRetryTime: CONNECT_RETRY_TIME,
    // It may be another one by the next connection.
    connectPassword: () => context.passwordOf(name),
    socket: {
      userTimeout: holdTime,
      ...(password !== undefined && { password }),
      ...(ttlSecurityHops > 0 && { ttlSecurityHops }),
    },
  };
}

/** An OPEN without a password could be of any host. */
function offersBfdAuthentication(
  { bfd, withoutCapabilities }: NeighborConfig,
  password: string | undefined,
): boolean {
  const isWanted = bfd !== false && bfd.authentication === 'auto' && password !== undefined;
  return isWanted && !withoutCapabilities.includes('bfd-authentication');
}

/** What all neighbors have, and those of a role, less the capabilities that this one is not offered. */
function sessionOptions(
  { withoutCapabilities: without }: Pick<NeighborConfig, 'withoutCapabilities'>,
  common: PeerSettings,
  { gracefulRestart, ...ofRole }: Partial<PeerSettings>,
): PeerSettings {
  const isKept = gracefulRestart !== undefined && !without.includes('graceful-restart');
  return { ...common, ...ofRole, ...(isKept && { gracefulRestart }), ...capabilitySwitches(without) };
}

function masterSettings(
  { memberAddress, maxPrefixes, maxPrefixesRestart }: MasterNeighborConfig,
  families: readonly Family[],
  { config, isVip, isRestarting }: NeighborContext,
): Partial<PeerSettings> {
  return {
    importPolicy: masterImportPolicy(
      isVip,
      memberAddress === 'peer' ? undefined : parseIpAddress(memberAddress),
    ),
    // Of what is announced, not of what is taken: that is never more than the VIPs.
    maxReceived: maxPrefixes,
    limitHold: maxPrefixesRestart === 'never' ? Number.POSITIVE_INFINITY : maxPrefixesRestart / 1000,
    // The end of a process closes its TCP; its host, and the API server on it, live on.
    retainPaths: 'always',
    staleTime: config.pool.staleTime / 1000,
    gracefulRestart: { restartTime: RESTART_TIME, families, forwardingPreserved: isRestarting },
  };
}

function internalSettings(
  { address, addPath }: Pick<NeighborConfig & { role: 'internal' }, 'address' | 'addPath'>,
  { isVip, isRestarting }: NeighborContext,
): Partial<PeerSettings> {
  const families = [familyOfAddress(address)];
  return {
    importPolicy: internalImportPolicy(isVip),
    addPathReceive: addPath ? families : [],
    maxPaths: INTERNAL_MAX_PATHS,
    gracefulRestart: { restartTime: RESTART_TIME, families, forwardingPreserved: isRestarting },
  };
}

function upstreamSettings(
  families: readonly Family[],
  keeps: boolean,
  { isRestarting }: NeighborContext,
): Partial<PeerSettings> {
  if (!keeps) {
    return { importPolicy: upstreamImportPolicy };
  }
  return {
    importPolicy: upstreamImportPolicy,
    gracefulRestart: {
      restartTime: RESTART_TIME,
      families,
      restarting: isRestarting,
    },
  };
}

/** Our end of the session's connection, without the port and with its zone: `undefined` while there is no session. */
export function localAddressOf(peer: Pick<Peer, 'status'>): string | undefined {
  const { localAddress: local } = peer.status();
  const match = /^\[?([0-9a-f.:]+?(?:%[^\]]+)?)\]?:\d+$/.exec(local ?? '');
  // An IPv6 listener that takes IPv4 too shows the address mapped (RFC 4291 section 2.5.5.2).
  return match?.[1]?.replace(/^::ffff:(?=\d+\.)/, '');
}
