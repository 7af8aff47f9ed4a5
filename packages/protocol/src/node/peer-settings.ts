import { type Asn, type Family, type ImportPolicy, ipv4Unicast, type LocalOffer } from '../index.ts';
import type { SocketOptions } from './sockets.ts';

/** How we restart and what we keep meanwhile (RFC 4724). */
export interface GracefulRestartSettings {
  /** In seconds, 0 to 4095: how long peers are asked to wait for our return. */
  readonly restartTime: number;
  /** Families whose forwarding state is kept over our restart. */
  readonly families: readonly Family[];
  /** We have just restarted: the first session says so, and its End-of-RIB waits for the first `setRoutes`, or for `restartTime`. */
  readonly restarting?: boolean;
  /**
   * What was forwarded before this process is forwarded still: the F bit until the first session is established. Later ones have it,
   * since nothing has restarted meanwhile. Default: as `restarting`.
   */
  readonly forwardingPreserved?: boolean;
}

/** What peers and ranges of peers have in common. */
export interface PeerSettings {
  /** The AS numbers that are taken; `external` is any but ours. */
  readonly remoteAsn: readonly Asn[] | 'external';
  /** An external peer's AS must stand first in its paths (RFC 4271 section 6.3). Default true; false for a route server (RFC 7947). */
  readonly enforceFirstAs?: boolean;
  /** Take paths whose AS_PATH has an AS_SET, which RFC 9774 section 3 has withdrawn. Default false. */
  readonly acceptAsSet?: boolean;
  /** Default: IPv4 unicast. */
  readonly families?: readonly Family[];
  /** In seconds: 0 for none, or 3 to 65535. Default 90. */
  readonly holdTime?: number;
  /** In seconds: bounds one attempt to connect, and the wait between two, which doubles from one second up to this. The first attempt is at once. Default 120. */
  readonly connectRetryTime?: number;
  /** In seconds: DelayOpenTime of RFC 4271 section 8.1.1. Default: OPEN is sent at once. */
  readonly delayOpenTime?: number;
  /** In seconds: a peer that takes nothing for this long, or for twice the hold time if that is longer, is dropped (RFC 9687). Default 480. */
  readonly sendHoldTime?: number;
  readonly addPathSend?: readonly Family[];
  readonly addPathReceive?: readonly Family[];
  // Each optional capability has a switch: there are peers that end the session at one that they do not know.
  /** Name the families in the OPEN (RFC 4760 section 8). Default true; false is for IPv4 unicast alone. */
  readonly multiprotocol?: boolean;
  /** Offer to send all routes again on request (RFC 2918). Default true. */
  readonly routeRefresh?: boolean;
  /** Offer AS numbers of four octets (RFC 6793). Default true. Without it an AS of ours that needs them is AS_TRANS to the peer. */
  readonly fourOctetAs?: boolean;
  /** Offer messages of up to 65535 octets (RFC 8654). Default true. */
  readonly extendedMessage?: boolean;
  /** Offer to mark the beginning and the end of a route refresh (RFC 7313). Default true. */
  readonly enhancedRouteRefresh?: boolean;
  /** Offer to authenticate BFD: `bfdNonce`. Default: the capability is not sent. Only with a password. */
  readonly bfdAuthentication?: Uint8Array;
  /** Default: the capability is not sent. */
  readonly gracefulRestart?: GracefulRestartSettings;
  /**
   * What becomes of the peer's paths when TCP is closed, by FIN or RST, without a NOTIFICATION: `negotiated` keeps them as
   * stale ones in the families of graceful restart, `always` keeps them in any case. Neither does after the hold timer or a
   * TCP timeout, which speak of a dead host. Default `negotiated`.
   */
  readonly retainPaths?: 'negotiated' | 'always';
  /** In seconds: how long stale paths are kept. Default 120. */
  readonly staleTime?: number;
  /** The most paths of one family; more end the session (RFC 4486). Default: no limit. */
  readonly maxPaths?: number;
  /** The most routes of one family that the peer may announce, those counted that import policy refuses; more end the session (RFC 4486). Default: no limit. */
  readonly maxReceived?: number;
  /** In seconds: how long a peer that passed `maxPaths` or `maxReceived` is left alone; Infinity until `reset`. Default: as after any other fault. */
  readonly limitHold?: number;
  readonly importPolicy?: ImportPolicy;
  readonly socket?: SocketOptions;
  /** The TCP MD5 key of a connection that we make, asked for with each: in place of that of `socket`, where keys change. */
  readonly connectPassword?: () => string | undefined;
}

/** One configured peer. */
export interface PeerOptions extends PeerSettings {
  readonly name: string;
  /** A literal IPv4 or IPv6 address; a link-local one with its zone, `fe80::1%eth0` (RFC 4007 section 11). */
  readonly address: string;
  /** Default 179. */
  readonly port?: number;
  /** Wait for the peer to connect. Default false. */
  readonly passive?: boolean;
}

/** Peers that are not known one by one; they connect to us, and are named by their addresses. */
export interface PeerRangeOptions extends PeerSettings {
  readonly name: string;
  /** As `10.0.0.0/24`. */
  readonly range: string;
  /** The most peers at a time. */
  readonly maxSessions: number;
}

/** Settings with every default filled in. */
export interface ResolvedSettings {
  readonly remoteAsn: readonly Asn[] | 'external';
  readonly enforceFirstAs: boolean;
  readonly acceptAsSet: boolean;
  readonly families: readonly Family[];
  readonly holdTime: number;
  readonly connectRetryTime: number;
  readonly delayOpenTime: number | undefined;
  readonly sendHoldTime: number;
  readonly addPathSend: readonly Family[];
  readonly addPathReceive: readonly Family[];
  readonly multiprotocol: boolean;
  readonly routeRefresh: boolean;
  readonly fourOctetAs: boolean;
  readonly extendedMessage: boolean;
  readonly enhancedRouteRefresh: boolean;
  readonly bfdAuthentication: Uint8Array | undefined;
  readonly gracefulRestart: GracefulRestartSettings | undefined;
  readonly retainPaths: 'negotiated' | 'always';
  readonly staleTime: number;
  readonly maxPaths: number | undefined;
  readonly maxReceived: number | undefined;
  readonly limitHold: number;
  readonly importPolicy: ImportPolicy | undefined;
  readonly socket: SocketOptions;
  readonly connectPassword: (() => string | undefined) | undefined;
}

/**
 * Fills in the defaults.
 * @throws RangeError that names the peer, the setting, its value and what is allowed.
 */
export function resolveSettings(name: string, settings: PeerSettings): ResolvedSettings {
  const resolved: ResolvedSettings = {
    remoteAsn: settings.remoteAsn,
    enforceFirstAs: settings.enforceFirstAs ?? true,
    acceptAsSet: settings.acceptAsSet ?? false,
    families: settings.families ?? [ipv4Unicast],
    holdTime: settings.holdTime ?? 90,
    connectRetryTime: settings.connectRetryTime ?? 120,
    delayOpenTime: settings.delayOpenTime,
    sendHoldTime: settings.sendHoldTime ?? 480,
    addPathSend: settings.addPathSend ?? [],
    addPathReceive: settings.addPathReceive ?? [],
    multiprotocol: settings.multiprotocol ?? true,
    routeRefresh: settings.routeRefresh ?? true,
    fourOctetAs: settings.fourOctetAs ?? true,
    extendedMessage: settings.extendedMessage ?? true,
    enhancedRouteRefresh: settings.enhancedRouteRefresh ?? true,
    bfdAuthentication: settings.bfdAuthentication,
    gracefulRestart: settings.gracefulRestart,
    retainPaths: settings.retainPaths ?? 'negotiated',
    staleTime: settings.staleTime ?? 120,
    maxPaths: settings.maxPaths,
    maxReceived: settings.maxReceived,
    limitHold: settings.limitHold ?? 0,
    importPolicy: settings.importPolicy,
    socket: settings.socket ?? {},
    connectPassword: settings.connectPassword,
  };
  check(name, resolved);
  return resolved;
}

function check(name: string, settings: ResolvedSettings): void {
  const fail = (key: string, value: unknown, allowed: string): never => {
    throw new RangeError(`peer ${name}: ${key} ${String(value)}: expected ${allowed}`);
  };
  const { holdTime, connectRetryTime, staleTime, gracefulRestart, families, remoteAsn } = settings;
  const { maxPaths, maxReceived, limitHold } = settings;
  if (!Number.isInteger(holdTime) || holdTime < 0 || holdTime > 65535 || holdTime === 1 || holdTime === 2) {
    fail('holdTime', holdTime, '0, or 3 to 65535 seconds');
  }
  if (!(connectRetryTime >= 1)) fail('connectRetryTime', connectRetryTime, 'at least 1 second');
  if (!(staleTime >= 0)) fail('staleTime', staleTime, '0 or more seconds');
  if (maxPaths !== undefined && !(maxPaths >= 0)) fail('maxPaths', maxPaths, '0 or more');
  if (maxReceived !== undefined && !(maxReceived >= 0)) fail('maxReceived', maxReceived, '0 or more');
  if (!(limitHold >= 0)) fail('limitHold', limitHold, '0 or more seconds');
  if (families.length === 0) fail('families', 'none', 'at least one address family');
  if (!settings.multiprotocol && families.some((family) => family !== ipv4Unicast)) {
    const names = families.map(({ name: family }) => family).join(', ');
    fail('multiprotocol', `false with ${names}`, `true, or ${ipv4Unicast.name} alone`);
  }
  if (remoteAsn !== 'external' && remoteAsn.length === 0) fail('remoteAsn', 'none', 'at least one AS number');
  const restartTime = gracefulRestart?.restartTime ?? 0;
  // Twelve bits (RFC 4724 section 3).
  if (!Number.isInteger(restartTime) || restartTime < 0 || restartTime > 4095) {
    fail('gracefulRestart.restartTime', restartTime, '0 to 4095 seconds');
  }
}

/**
 * What we offer in the OPEN. `isFirst`: no session has been established yet, so that the R and F bits speak of what was before
 * this process (RFC 4724 section 3).
 */
export function offerOf(
  settings: ResolvedSettings,
  local: Pick<LocalOffer, 'asn' | 'routerId'>,
  isFirst: boolean,
): LocalOffer {
  const { holdTime, families, addPathSend, addPathReceive, extendedMessage, enhancedRouteRefresh } = settings;
  const { multiprotocol, routeRefresh, fourOctetAs, gracefulRestart } = settings;
  const restarting = gracefulRestart?.restarting === true;
  return {
    ...local,
    holdTime,
    families,
    addPathSend,
    addPathReceive,
    multiprotocol,
    routeRefresh,
    fourOctetAs,
    extendedMessage,
    enhancedRouteRefresh,
    bfdAuthentication: settings.bfdAuthentication,
    gracefulRestart: gracefulRestart && {
      restarting: isFirst && restarting,
      forwardingPreserved: !isFirst || (gracefulRestart.forwardingPreserved ?? restarting),
      restartTime: gracefulRestart.restartTime,
      families: gracefulRestart.families,
    },
  };
}
