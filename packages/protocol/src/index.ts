export type { BfdAuthentication, BfdAuthenticationMode, BfdKey } from './bfd/authentication.ts';
export {
  admitBfdPacket,
  agreeOnKey,
  bfdAuthentication,
  forgetEndedKey,
  isBfdPacketSigned,
  signBfdPacket,
} from './bfd/authentication.ts';
export type { BfdChange, BfdFailureClass } from './bfd/classify-failure.ts';
export { classifyBfdFailure } from './bfd/classify-failure.ts';
export type { BfdControlPacket, BfdDiscardReason, BfdState } from './bfd/control-packet.ts';
export {
  BfdDiagnostic,
  bfdDiscardReasons,
  decodeBfdControlPacket,
  describeBfdDiagnostic,
  encodeBfdControlPacket,
} from './bfd/control-packet.ts';
export type { BfdAction, BfdEvent, BfdReason } from './bfd/event.ts';
export type { BfdInterval, BfdPoll, BfdRemote, BfdSession, BfdSettings } from './bfd/session.ts';
export {
  bfdDetectAt,
  bfdDetectionTime,
  bfdSession,
  bfdTransmitAt,
  bfdTransmitInterval,
  checkBfdSettings,
} from './bfd/session.ts';
export type { BfdStep } from './bfd/step.ts';
export { bfdStep, isBfdFailure } from './bfd/step.ts';
export type { Action, ConnectionTimer, DownKind, SessionEnd } from './fsm/action.ts';
export { type Role, survivingRole } from './fsm/collision.ts';
export type { FsmEvent, NotificationContent, TcpFailure } from './fsm/event.ts';
export { type LocalOffer, localOpen } from './fsm/local-open.ts';
export type { ExpectedPeer, Negotiated, PeerGracefulRestart } from './fsm/negotiate.ts';
export { negotiate } from './fsm/negotiate.ts';
export type { OscillationOptions } from './fsm/oscillation.ts';
export { Oscillation } from './fsm/oscillation.ts';
export type { PeerAction, PeerFsmConfig, PeerInput } from './fsm/peer-fsm.ts';
export { PeerFsm } from './fsm/peer-fsm.ts';
export { errorEvent, messageEvent } from './fsm/receive.ts';
export type { ConnectionConfig, State, StateName, Step } from './fsm/state.ts';
export { stateNames } from './fsm/state.ts';
export { step } from './fsm/step.ts';
export type { AdjRibInOptions } from './rib/adj-rib-in.ts';
export { AdjRibIn } from './rib/adj-rib-in.ts';
export type { Route, UnsentRoute } from './rib/adj-rib-out.ts';
export { AdjRibOut } from './rib/adj-rib-out.ts';
export { AttributeTable } from './rib/attribute-table.ts';
export type { Decision, DecisionOptions, DecisionReason, RankedPath } from './rib/decision.ts';
export { decide } from './rib/decision.ts';
export { endOfRib, isEndOfRib } from './rib/end-of-rib.ts';
export type { SelectedPath, Selection, SelectionReason } from './rib/multipath.ts';
export { selectPaths } from './rib/multipath.ts';
export type { ImportPolicy, Path, PathSource, RejectedPath, RouteChange } from './rib/path.ts';
export { nextHopText } from './rib/path.ts';
export type { ReflectionPeer, ReflectorIdentity } from './rib/reflection.ts';
export { passedOnAttributes, reflectionRefusal } from './rib/reflection.ts';
export { RefreshTracker } from './rib/refresh-tracker.ts';
export type { ReflectorPeer, RouteReflectorOptions } from './rib/route-reflector.ts';
export { RouteReflector } from './rib/route-reflector.ts';
export type { EncodedUpdates } from './rib/update-batch.ts';
export type { GroupLimits, GroupMember } from './rib/update-group.ts';
export type { RouteId } from './rib/update-routes.ts';
export { endpointText, hostPrefix, ipVersion, isSameVersion } from './types/address-text.ts';
export type { Asn } from './types/asn.ts';
export { AS_TRANS, asn, formatAsn, isPrivateAsn, isTwoOctetAsn, parseAsn } from './types/asn.ts';
export type { Family } from './types/family.ts';
export { families, familyOf, ipv4Unicast, ipv6Unicast } from './types/family.ts';
export type { IpAddress, IpAddressKey } from './types/ip-address.ts';
export {
  compareIpAddress,
  equalIpAddress,
  formatIpAddress,
  ipAddress,
  ipAddressKey,
  parseIpAddress,
} from './types/ip-address.ts';
export type { Prefix, PrefixKey } from './types/prefix.ts';
export {
  comparePrefix,
  equalPrefix,
  formatPrefix,
  parsePrefix,
  prefix,
  prefixContains,
  prefixKey,
} from './types/prefix.ts';
export type { RouterId } from './types/router-id.ts';
export { formatRouterId, parseRouterId, routerId } from './types/router-id.ts';
export { canonicalScoped, formatScoped, isLinkLocal, withoutZone, zoneOf } from './types/zone.ts';
export { WellKnownCommunity } from './wire/attribute/communities.ts';
export type { AttributeFault } from './wire/attribute-fault.ts';
export type { AttributeMemory, AttributeOctets, RecalledAttributes } from './wire/attribute-octets.ts';
export type { AfiSafi, Capability, GracefulRestartFamily } from './wire/capability/capability.ts';
export { AddPathMode } from './wire/capability/capability.ts';
export {
  BGP_VERSION,
  HEADER_LENGTH,
  MAX_EXTENDED_MESSAGE_LENGTH,
  MAX_MESSAGE_LENGTH,
  MessageType,
} from './wire/constants.ts';
export type { CodecContext } from './wire/context.ts';
export { openContext } from './wire/context.ts';
export { EncodeError, NotificationError } from './wire/errors.ts';
export type { Frame } from './wire/framer.ts';
export { Framer } from './wire/framer.ts';
export type { HardResetReason } from './wire/hard-reset.ts';
export { hardResetData, parseHardReset } from './wire/hard-reset.ts';
export { encodeKeepalive, keepalive } from './wire/keepalive.ts';
export type {
  DecodedMessage,
  DecodedUpdate,
  KeepaliveMessage,
  Message,
  NotificationMessage,
  OpenMessage,
  ReceivedMessage,
  ReceivedUpdate,
  RouteRefreshMessage,
  UpdateMessage,
} from './wire/message.ts';
export { decodeMessage, encodeMessage, readMessage } from './wire/message-codec.ts';
export type { MrtMessage, MrtOther } from './wire/mrt.ts';
export { encodeMrt, MrtError, readMrt } from './wire/mrt.ts';
export type { Nlri } from './wire/nlri.ts';
export { nlriLength } from './wire/nlri.ts';
export type { NlriField } from './wire/nlri-field.ts';
export {
  CeaseSubcode,
  describeNotification,
  FsmSubcode,
  MessageHeaderSubcode,
  NotificationCode,
  OpenSubcode,
  RouteRefreshSubcode,
  UpdateSubcode,
} from './wire/notification-codes.ts';
export type {
  Aggregator,
  AsPathSegment,
  ExtendedCommunity,
  LargeCommunity,
  MpNextHop,
  MpReach,
  MpUnreach,
  PathAttributes,
  RawAttribute,
} from './wire/path-attributes.ts';
export { Origin, pathAttributes, SegmentType } from './wire/path-attributes.ts';
export { RouteRefreshSubtype } from './wire/route-refresh.ts';
export { parseShutdownCommunication, shutdownCommunication } from './wire/shutdown-communication.ts';
export { decodedUpdate, receivedUpdate } from './wire/update.ts';
export { familyOfUpdate } from './wire/update-family.ts';
export { Writer } from './wire/writer.ts';
