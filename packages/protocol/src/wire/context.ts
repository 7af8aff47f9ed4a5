import type { Asn } from '../types/asn.ts';
import { AS_TRANS } from '../types/asn.ts';
import { ipv4Unicast } from '../types/family.ts';
import { MAX_MESSAGE_LENGTH } from './constants.ts';
import type { CodecContext } from './message.ts';

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
