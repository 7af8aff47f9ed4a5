import type { RouterId } from '../types/router-id.ts';
import type { AttributeFault } from './attribute-fault.ts';
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
