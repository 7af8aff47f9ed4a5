export type { AdjRibInOptions } from './rib/adj-rib-in.ts';
export { AdjRibIn } from './rib/adj-rib-in.ts';
export { AttributeTable } from './rib/attribute-table.ts';
export type { Decision, DecisionOptions, DecisionReason, RankedPath } from './rib/decision.ts';
export { decide } from './rib/decision.ts';
export { endOfRib, isEndOfRib } from './rib/end-of-rib.ts';
export type { ImportPolicy, Path, PathSource, RejectedPath, RouteChange } from './rib/path.ts';
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
export type { AfiSafi, Capability, GracefulRestartFamily } from './wire/capability/capability.ts';
export { AddPathMode } from './wire/capability/capability.ts';
export type {
  AttributeFault,
  CodecContext,
  DecodedMessage,
  DecodedUpdate,
  KeepaliveMessage,
  Message,
  NotificationMessage,
  OpenMessage,
  RouteRefreshMessage,
  UpdateMessage,
} from './wire/message.ts';
export type { Nlri } from './wire/nlri.ts';
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
