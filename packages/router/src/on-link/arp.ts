import { formatIpAddress, ipAddress, parseIpAddress } from '@bgp-lb/protocol';
import {
  type LinkLanguage,
  type LinkMessage,
  linkAddressOctets,
  linkAddressText,
  type OutgoingPacket,
} from './link-message.ts';

/** Ethernet, IPv4, six and four octets of address: what an ARP packet begins with (RFC 826). */
const head = [0, 1, 8, 0, 6, 4] as const;
const length = 28;
const operation = { request: 1, reply: 2 } as const;
const at = { operation: 7, senderLink: 8, sender: 14, targetLink: 18, target: 24 } as const;
const broadcast = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
const nobody = new Uint8Array(6);
const unspecified = new Uint8Array(4);

/** ARP for IPv4 (RFC 826), with probes and announcements as RFC 5227 has them. @param own our link-layer address */
export function arpLanguage(own: string): LinkLanguage {
  const mac = linkAddressOctets(own);
  const make = (
    type: number,
    sender: Uint8Array,
    targetLink: Uint8Array,
    target: Uint8Array,
    to: Uint8Array,
  ): OutgoingPacket => {
    const packet = new Uint8Array(length);
    packet.set([...head, 0, type]);
    packet.set(mac, at.senderLink);
    packet.set(sender, at.sender);
    packet.set(targetLink, at.targetLink);
    packet.set(target, at.target);
    return { packet, to };
  };
  return {
    parse: parseArp,
    probe: (address) => make(operation.request, unspecified, nobody, octetsOf(address), broadcast),
    answer: (address, { link, address: asker }) =>
      make(operation.reply, octetsOf(address), link, asker, link),
    announcement: (address) =>
      make(operation.request, octetsOf(address), nobody, octetsOf(address), broadcast),
  };
}

/**
 * A request whose sender has the address, for another target, is no claim: masters that have the VIP on their loopback
 * may send such, and do not answer for it.
 */
function parseArp(packet: Uint8Array): { address: string; message: LinkMessage } | undefined {
  if (packet.length < length || head.some((octet, index) => packet[index] !== octet)) return undefined;
  const part = (begin: number, size: number): Uint8Array => packet.slice(begin, begin + size);
  const [sender, target, link] = [part(at.sender, 4), part(at.target, 4), part(at.senderLink, 6)];
  const from = linkAddressText(link);
  const isAnnouncement = isEqual(sender, target);
  if (packet[at.operation] === operation.reply || isAnnouncement) {
    return { address: textOf(sender), message: { type: 'claim', from } };
  }
  if (packet[at.operation] !== operation.request) return undefined;
  const replyTo = { link, address: sender };
  return {
    address: textOf(target),
    message: { type: isEqual(sender, unspecified) ? 'probe' : 'question', from, replyTo },
  };
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.every((octet, index) => octet === b[index]);
}

function octetsOf(address: string): Uint8Array {
  return Uint8Array.from(parseIpAddress(address).bytes);
}

function textOf(octets: Uint8Array): string {
  return formatIpAddress(ipAddress(octets));
}
