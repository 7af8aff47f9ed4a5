import { AS_TRANS, type Asn, asn } from '../types/asn.ts';
import { type Family, familyOf, ipv4Unicast } from '../types/family.ts';
import type { Capability, GracefulRestartFamily } from '../wire/capability/capability.ts';
import { AddPathMode } from '../wire/capability/capability.ts';
import { MAX_EXTENDED_MESSAGE_LENGTH, MAX_MESSAGE_LENGTH } from '../wire/constants.ts';
import type { CodecContext } from '../wire/context.ts';
import { NotificationError } from '../wire/errors.ts';
import type { OpenMessage } from '../wire/message.ts';
import { NotificationCode, OpenSubcode } from '../wire/notification-codes.ts';

/** What the peer must be. */
export interface ExpectedPeer {
  readonly localAsn: Asn;
  /** The AS numbers that are taken; `external` is any but ours. */
  readonly remoteAsn: readonly Asn[] | 'external';
  /** As in `CodecContext`. */
  readonly enforceFirstAs?: boolean;
  /** As in `CodecContext`. Default false. */
  readonly acceptAsSet?: boolean;
}

/** The peer's graceful restart capability (RFC 4724 section 3). */
export interface PeerGracefulRestart {
  /** The peer has restarted and wants our routes before it selects. */
  readonly restarting: boolean;
  /** N bit (RFC 8538 section 2). */
  readonly notification: boolean;
  /** In seconds: how long the peer's return may take. */
  readonly restartTime: number;
  readonly families: readonly GracefulRestartFamily[];
}

/** What two OPENs agreed on. */
export interface Negotiated {
  readonly context: CodecContext;
  /** In seconds: the smaller of both, 0 for none (RFC 4271 section 4.2). */
  readonly holdTime: number;
  /** In seconds, before jitter: a third of the hold time (RFC 4271 section 4.4). */
  readonly keepaliveTime: number;
  /** Both sides take ROUTE-REFRESH (RFC 2918). */
  readonly routeRefresh: boolean;
  /** Both sides mark begin and end of a refresh (RFC 7313). */
  readonly enhancedRouteRefresh: boolean;
  /** The peer's, when both sides sent the capability. */
  readonly gracefulRestart: PeerGracefulRestart | undefined;
  /** The nonces of both sides, when both offered to authenticate BFD. */
  readonly bfdAuthentication: { readonly local: Uint8Array; readonly remote: Uint8Array } | undefined;
  readonly remoteOpen: OpenMessage;
  readonly localOpen: OpenMessage;
}

type CapabilityOf<N extends Capability['name']> = Extract<Capability, { name: N }>;

function capabilityOf<N extends Capability['name']>(open: OpenMessage, name: N): CapabilityOf<N> | undefined {
  return open.capabilities.find((each): each is CapabilityOf<N> => each.name === name);
}

/** Both OPENs have the capability. */
function both(local: OpenMessage, remote: OpenMessage, name: Capability['name']): boolean {
  return capabilityOf(local, name) !== undefined && capabilityOf(remote, name) !== undefined;
}

/**
 * Checks the peer's OPEN against ours (RFC 4271 section 6.2, RFC 5492, RFC 6286, RFC 6793, RFC 7607) and derives what
 * the session uses.
 * @throws NotificationError OPEN Message Error with the subcode of the first fault; no other error.
 */
export function negotiate(local: OpenMessage, remote: OpenMessage, expected: ExpectedPeer): Negotiated {
  const remoteAsn = checkAsn(remote, expected);
  const isInternal = remoteAsn === expected.localAsn;
  // RFC 6286 section 2.2: inside an AS an identifier is used once; between AS numbers it may repeat.
  if (isInternal && remote.bgpIdentifier === local.bgpIdentifier) {
    throw openError(OpenSubcode.BadBgpIdentifier, 'the peer in our AS has our own BGP Identifier');
  }
  if (remote.holdTime === 1 || remote.holdTime === 2) {
    throw openError(
      OpenSubcode.UnacceptableHoldTime,
      `hold time ${remote.holdTime}: expected 0, or 3 and more`,
    );
  }
  const holdTime = Math.min(local.holdTime, remote.holdTime);
  const families = commonFamilies(local, remote);
  return {
    context: {
      asn4: both(local, remote, 'four-octet-as'),
      isInternal,
      localAsn: expected.localAsn,
      peerAsn: remoteAsn,
      // RFC 8654 section 4: who advertises the capability must take long messages, whatever the other side did.
      maxReceiveLength: lengthLimit(local),
      maxSendLength: lengthLimit(remote),
      families,
      addPathReceive: addPathFamilies(local, remote, families),
      addPathSend: addPathFamilies(remote, local, families),
      enhancedRouteRefresh: both(local, remote, 'enhanced-route-refresh'),
      enforceFirstAs: expected.enforceFirstAs ?? true,
      acceptAsSet: expected.acceptAsSet ?? false,
    },
    holdTime,
    keepaliveTime: holdTime / 3,
    routeRefresh: both(local, remote, 'route-refresh'),
    enhancedRouteRefresh: both(local, remote, 'enhanced-route-refresh'),
    gracefulRestart: gracefulRestart(local, remote),
    bfdAuthentication: bfdAuthentication(local, remote),
    remoteOpen: remote,
    localOpen: local,
  };
}

function openError(subcode: number, reason: string, data?: Uint8Array): NotificationError {
  return new NotificationError(NotificationCode.OpenMessageError, subcode, data, reason);
}

function lengthLimit(open: OpenMessage): number {
  return capabilityOf(open, 'extended-message') === undefined
    ? MAX_MESSAGE_LENGTH
    : MAX_EXTENDED_MESSAGE_LENGTH;
}

/** The peer's AS, checked against what its two fields may say (RFC 6793 section 4.2) and against what is expected. */
function checkAsn(remote: OpenMessage, { localAsn, remoteAsn: wanted }: ExpectedPeer): Asn {
  const fourOctet = capabilityOf(remote, 'four-octet-as');
  const number: number = fourOctet?.asn ?? remote.myAs;
  // RFC 7607 section 2: AS 0 is refused wherever it stands.
  if (number === 0 || remote.myAs === 0) throw openError(OpenSubcode.BadPeerAs, 'AS 0');
  if (remote.myAs !== number && remote.myAs !== AS_TRANS) {
    throw openError(OpenSubcode.BadPeerAs, `My AS ${remote.myAs}, but ${number} in the capability`);
  }
  const remoteAsn = asn(number);
  // AS_TRANS says that there is another AS, not which (RFC 6793 section 9).
  const isExternal = remoteAsn !== localAsn && remoteAsn !== AS_TRANS;
  const isWanted = wanted === 'external' ? isExternal : wanted.includes(remoteAsn);
  if (isWanted) return remoteAsn;
  const allowed = wanted === 'external' ? `any but ${localAsn} and AS_TRANS` : wanted.join(', ');
  throw openError(OpenSubcode.BadPeerAs, `AS ${remoteAsn}: expected ${allowed}`);
}

/** Families that an OPEN offers; without any multiprotocol capability, IPv4 unicast (RFC 4760 section 8). */
function offeredFamilies(open: OpenMessage): readonly Family[] {
  const offered = open.capabilities.filter((each) => each.name === 'multiprotocol');
  if (offered.length === 0) return [ipv4Unicast];
  return offered.flatMap(({ afi, safi }) => familyOf(afi, safi) ?? []);
}

function commonFamilies(local: OpenMessage, remote: OpenMessage): readonly Family[] {
  const theirs = offeredFamilies(remote);
  const ours = offeredFamilies(local);
  const common = ours.filter((family) => theirs.includes(family));
  if (common.length > 0) return common;
  // RFC 5492 section 5: the data field lists the capabilities that the peer should have had.
  const data = Uint8Array.from(ours.flatMap(({ afi, safi }) => [1, 4, afi >> 8, afi & 0xff, 0, safi]));
  throw openError(
    OpenSubcode.UnsupportedCapability,
    `no address family in common, expected one of ${ours.map(({ name }) => name).join(', ')}`,
    data,
  );
}

/** Families in which `receiver` takes path identifiers and `sender` sends them (RFC 7911 section 4). */
function addPathFamilies(
  receiver: OpenMessage,
  sender: OpenMessage,
  families: readonly Family[],
): readonly Family[] {
  return families.filter(
    (family) =>
      (addPathMode(receiver, family) & AddPathMode.Receive) !== 0 &&
      (addPathMode(sender, family) & AddPathMode.Send) !== 0,
  );
}

function addPathMode(open: OpenMessage, { afi, safi }: Family): number {
  const entry = open.capabilities
    .filter((each) => each.name === 'add-path')
    .flatMap((each) => each.families)
    .find((each) => each.afi === afi && each.safi === safi);
  // "If any other value is received, then the capability SHOULD be treated as not understood and ignored."
  return entry !== undefined && entry.mode <= AddPathMode.Both ? entry.mode : 0;
}

function bfdAuthentication(local: OpenMessage, remote: OpenMessage): Negotiated['bfdAuthentication'] {
  const [ours, theirs] = [local, remote].map((open) => capabilityOf(open, 'bfd-authentication')?.nonce);
  return ours === undefined || theirs === undefined ? undefined : { local: ours, remote: theirs };
}

function gracefulRestart(local: OpenMessage, remote: OpenMessage): PeerGracefulRestart | undefined {
  // RFC 4724 section 3: "the receiver of the advertisement MUST ignore all but the last instance".
  const theirs = remote.capabilities.findLast((each) => each.name === 'graceful-restart');
  if (theirs === undefined || capabilityOf(local, 'graceful-restart') === undefined) return undefined;
  const { restarting, notification, restartTime } = theirs;
  const families = theirs.families.flatMap(({ afi, safi, forwardingPreserved }) => {
    const family = familyOf(afi, safi);
    return family === undefined ? [] : [{ family, forwardingPreserved }];
  });
  return { restarting, notification, restartTime, families };
}
