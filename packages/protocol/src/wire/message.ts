import type { Asn } from '../types/asn.ts';
import type { Family } from '../types/family.ts';
import type { RouterId } from '../types/router-id.ts';
import type { AttributeOctets, RecalledAttributes } from './attribute-octets.ts';
import type { Capability } from './capability/capability.ts';
import type { Nlri } from './nlri.ts';
import type { NlriField } from './nlri-field.ts';
import type { MpReach, MpUnreach, PathAttributes } from './path-attributes.ts';

/** OPEN (RFC 4271 section 4.2). */
export interface OpenMessage {
  readonly type: 'OPEN';
  readonly version: number;
  /** The My Autonomous System field as sent: 2 octets, AS_TRANS where the AS needs four. */
  readonly myAs: number;
  /** In seconds. */
  readonly holdTime: number;
  readonly bgpIdentifier: RouterId;
  readonly capabilities: readonly Capability[];
}

/** What was wrong with an attribute of a received UPDATE, and what was done about it (RFC 7606 section 2). */
export interface AttributeFault {
  /** Attribute type code; 0 when the fault is in no attribute: the fields of RFC 4271 section 4.3, or the framing of attributes. */
  readonly code: number;
  readonly action: 'attribute-discard' | 'treat-as-withdraw';
  /** UPDATE Message Error subcode that RFC 4271 section 6.3 would have answered with; 0 where it names none. */
  readonly subcode: number;
  /** One sentence for the log. */
  readonly reason: string;
}

/** UPDATE (RFC 4271 section 4.3). */
export interface UpdateMessage<Routes = readonly Nlri[]> {
  readonly type: 'UPDATE';
  /** Withdrawn Routes field: IPv4 unicast. */
  readonly withdrawn: Routes;
  /** `undefined` when the message carries no path attribute other than MP_UNREACH_NLRI. */
  readonly attributes: PathAttributes | undefined;
  /** Network Layer Reachability Information field: IPv4 unicast. */
  readonly nlri: Routes;
  readonly mpReach: MpReach<Routes> | undefined;
  readonly mpUnreach: MpUnreach<Routes> | undefined;
}

/** A decoded UPDATE, with what RFC 7606 made of its faults. */
export interface DecodedUpdate<Routes = readonly Nlri[]> extends UpdateMessage<Routes> {
  readonly faults: readonly AttributeFault[];
  /** True when every route announced here is to be treated as withdrawn (RFC 7606 section 2). */
  readonly treatAsWithdraw: boolean;
}

/**
 * An UPDATE as it came, with its routes still in the memory of the message: what a table takes routes from, without an
 * object for each. `decodeMessage` makes a `DecodedUpdate` of it.
 */
export interface ReceivedUpdate extends DecodedUpdate<NlriField> {
  /** What `attributes` were read from, where that is worth remembering. */
  readonly field: AttributeOctets | undefined;
  /** Where `attributes` were recalled: they may be made only when they are looked at. */
  readonly recalled: RecalledAttributes | undefined;
}

/** NOTIFICATION (RFC 4271 section 4.5). */
export interface NotificationMessage {
  readonly type: 'NOTIFICATION';
  readonly code: number;
  readonly subcode: number;
  readonly data: Uint8Array;
}

/** KEEPALIVE (RFC 4271 section 4.4). */
export interface KeepaliveMessage {
  readonly type: 'KEEPALIVE';
}

/** ROUTE-REFRESH (RFC 2918 section 3, RFC 7313 section 3.2). */
export interface RouteRefreshMessage {
  readonly type: 'ROUTE-REFRESH';
  readonly afi: number;
  readonly safi: number;
  /** 0 request, 1 beginning, 2 end (RFC 7313); other values are kept as received. */
  readonly subtype: number;
}

export type Message =
  | OpenMessage
  | UpdateMessage
  | NotificationMessage
  | KeepaliveMessage
  | RouteRefreshMessage;
export type DecodedMessage = Exclude<Message, UpdateMessage> | DecodedUpdate;
export type ReceivedMessage = Exclude<Message, UpdateMessage> | ReceivedUpdate;

/**
 * What two OPENs agreed on, as the codec needs it (RFC 4271 section 4.2, RFC 6793, RFC 7911, RFC 8654).
 * Made once by `negotiate()`; nothing about a session is read from anywhere else while coding a message.
 */
export interface CodecContext {
  /** AS numbers take four octets in AS_PATH and AGGREGATOR, both ways. */
  readonly asn4: boolean;
  /** The peer is in our AS. */
  readonly isInternal: boolean;
  readonly localAsn: Asn;
  readonly peerAsn: Asn;
  /** The longest message that we accept: 4096 or 65535 octets. */
  readonly maxReceiveLength: number;
  /** The longest message that we send. */
  readonly maxSendLength: number;
  /** Families that both sides offered. */
  readonly families: readonly Family[];
  /** Families whose NLRI arrive with path identifiers. */
  readonly addPathReceive: readonly Family[];
  /** Families whose NLRI we send with path identifiers. */
  readonly addPathSend: readonly Family[];
  /** The peer sent the capability of RFC 7313: a ROUTE-REFRESH of wrong length is answered with 7/1 then. Default false. */
  readonly enhancedRouteRefresh?: boolean;
  /**
   * An external peer must have put its own AS first in AS_PATH (RFC 4271 section 6.3; treat-as-withdraw by RFC 7606
   * section 7.2). Default true; false for a peer that is a route server (RFC 7947 section 2.2.2.1).
   */
  readonly enforceFirstAs?: boolean;
}
