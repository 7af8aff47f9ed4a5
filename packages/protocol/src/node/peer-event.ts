import type { DownKind, Role, StateName } from '../index.ts';

/** Something that happened with a peer, for logs and metrics. */
export type PeerEvent =
  /** A connection of the peer has changed its state. */
  | {
      readonly type: 'transition';
      /** Who opened the connection: we (`active`) or the peer (`passive`). */
      readonly role: Role;
      readonly from: StateName;
      readonly to: StateName;
      /** The event of RFC 4271 section 8.1. */
      readonly event: string;
      readonly reason: string;
    }
  /** A connection was closed without becoming one of a peer's. */
  | { readonly type: 'connection-refused'; readonly address: string; readonly reason: string }
  | ({ readonly type: 'notification-sent' } & DescribedNotification)
  | ({ readonly type: 'notification-received' } & DescribedNotification)
  /** An attribute of an UPDATE was faulty (RFC 7606). */
  | {
      readonly type: 'attribute-fault';
      readonly attribute: number;
      readonly action: 'attribute-discard' | 'treat-as-withdraw';
      readonly subcode: number;
      readonly reason: string;
    }
  /** The peer failed repeatedly and is left alone for a while. */
  | { readonly type: 'idle-hold'; readonly seconds: number }
  /** The session is down and its paths stay, as stale ones. */
  | { readonly type: 'paths-kept'; readonly count: number; readonly seconds: number }
  /** Stale paths that were not announced again are gone. */
  | { readonly type: 'stale-paths-removed'; readonly count: number; readonly reason: string }
  /** The peer began a route refresh of the family before its End-of-RIB, which counts for nothing (RFC 7313 section 4). */
  | { readonly type: 'refresh-ignored'; readonly family: string }
  /** A peer of a range is down and no longer known. */
  | { readonly type: 'forgotten' };

/** A NOTIFICATION in numbers and in words. */
export interface DescribedNotification {
  readonly code: number;
  readonly subcode: number;
  /** As `Cease/Administrative Shutdown`, with the operator's text after it where there is one (RFC 9003). */
  readonly text: string;
}

/** Why an established session ended, and what became of its paths. */
export interface DownReason {
  readonly kind: DownKind;
  /** Of the NOTIFICATION sent or received, where there was one. */
  readonly code?: number;
  readonly subcode?: number;
  /** For people; the text of RFC 9003 is part of it. */
  readonly text: string;
  /** The paths stay, as stale ones. */
  readonly pathsKept: boolean;
}
