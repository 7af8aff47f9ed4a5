/** VRRP advertisements as they are on a link. */
import { formatIpAddress, ipAddress } from '@bgp-lb/protocol';

/** The IP protocol number of VRRP (RFC 9568 section 8). */
export const VRRP_PROTOCOL = 112;
/** RFC 9568 section 5.1.1.2 and section 5.1.2.2. */
export const VRRP_GROUPS = { 4: '224.0.0.18', 6: 'ff02::12' } as const;
/** RFC 9568 section 7.1: one with another TTL or Hop Limit has come through a router, or says so. */
const WHOLE_TTL = 255;
const ADVERTISEMENT = 1;
const HEADER_LENGTH = 8;

/** What one says. */
export interface Advertisement {
  readonly source: string;
  readonly version: 2 | 3;
  readonly vrid: number;
  /** 0: the sender gives up. */
  readonly priority: number;
}

/**
 * Reads an IP packet (RFC 9568 section 5, RFC 3768 section 5.1); undefined for all that a router of this link has not sent, or that is
 * no advertisement. Pure; never throws.
 */
export function parseAdvertisement(packet: Uint8Array): Advertisement | undefined {
  const [first = 0] = packet;
  return first >> 4 === 4 ? overIpv4(packet) : first >> 4 === 6 ? overIpv6(packet) : undefined;
}

function overIpv4(packet: Uint8Array): Advertisement | undefined {
  const [first = 0] = packet;
  const length = (first & 0xf) * 4;
  if (length < 20 || packet[9] !== VRRP_PROTOCOL || packet[8] !== WHOLE_TTL) return undefined;
  return messageIn(packet.subarray(length), packet.slice(12, 16));
}

function overIpv6(packet: Uint8Array): Advertisement | undefined {
  if (packet[6] !== VRRP_PROTOCOL || packet[7] !== WHOLE_TTL) return undefined;
  return messageIn(packet.subarray(40), packet.slice(8, 24));
}

function messageIn(message: Uint8Array, source: Uint8Array): Advertisement | undefined {
  const [first = 0, vrid = 0, priority = 0] = message;
  const version = first >> 4;
  if (message.length < HEADER_LENGTH || (first & 0xf) !== ADVERTISEMENT || vrid === 0) return undefined;
  if (version !== 2 && version !== 3) return undefined;
  if (source.length !== 4 && source.length !== 16) return undefined;
  return { source: formatIpAddress(ipAddress(source)), version, vrid, priority };
}
