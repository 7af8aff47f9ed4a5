import type { Asn } from '../types/asn.ts';
import { AS_TRANS } from '../types/asn.ts';
import { type Family, ipv4Unicast } from '../types/family.ts';
import { MAX_MESSAGE_LENGTH } from './constants.ts';

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
  /** Take paths with an AS_SET, which RFC 9774 section 3 has treated as withdrawn. Default true; what `negotiate` makes says false. */
  readonly acceptAsSet?: boolean;
}

/**
 * What holds before OPENs were exchanged: 2-octet AS numbers, 4096 octets, IPv4 unicast alone.
 * The peer's AS is not known yet; AS_TRANS stands in for it.
 */
export function openContext(localAsn: Asn): CodecContext {
  return {
    asn4: false,
    isInternal: false,
    localAsn,
    peerAsn: AS_TRANS,
    maxReceiveLength: MAX_MESSAGE_LENGTH,
    maxSendLength: MAX_MESSAGE_LENGTH,
    families: [ipv4Unicast],
    addPathReceive: [],
    addPathSend: [],
  };
}
