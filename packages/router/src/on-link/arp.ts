import { formatIpAddress, ipAddress, parseIpAddress } from '@bgp-lb/protocol';
import {
  type LinkLanguage,
  type LinkMessage,
  linkAddressOctets,
  linkAddressText,
  type OutgoingPacket,
  type SharedIdentity,
} from './link-message.ts';

/** Ethernet, IPv4, six and four octets of address: what an ARP packet begins with (RFC 826). */
const head = [0, 1, 8, 0, 6, 4] as const;
const length = 28;
const operation = { request: 1, reply: 2 } as const;
const at = { operation: 7, senderLink: 8, sender: 14, targetLink: 18, target: 24 } as const;
const broadcast = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
const nobody = new Uint8Array(6);
const unspecified = new Uint8Array(4);

/**
 * ARP for IPv4 (RFC 826), with probes and announcements as RFC 5227 has them.
 *
 * With a shared identity an announcement has the sender's own address where RFC 5227 wants nothing of interest, the target's link-layer
 * address; and a probe is a question with a sender, marked there too: a kernel that is a proxy, whose daemon does not run, answers
 * questions and no probes.
 * @param own our link-layer address
 */
export function arpLanguage(own: string, shared?: SharedIdentity): LinkLanguage {
  const mac = linkAddressOctets(own);
  const make = (
    type: number,
    [senderLink, sender]: readonly [Uint8Array, Uint8Array],
    [targetLink, target]: readonly [Uint8Array, Uint8Array],
    to: Uint8Array,
  ): OutgoingPacket => {
    const packet = new Uint8Array(length);
    packet.set([...head, 0, type]);
    packet.set(senderLink, at.senderLink);
    packet.set(sender, at.sender);
    packet.set(targetLink, at.targetLink);
    packet.set(target, at.target);
    return { packet, to };
  };
  const claimed = (address: string): readonly [Uint8Array, Uint8Array] => [
    shared === undefined ? mac : linkAddressOctets(shared.linkOf(address)),
    octetsOf(address),
  ];
  const mark = shared === undefined ? nobody : mac;
  const asker = shared === undefined ? unspecified : octetsOf(shared.asker);
  return {
    parse: parseArp,
    probe: (address) => make(operation.request, [mac, asker], [mark, octetsOf(address)], broadcast),
    answer: (address, { link, address: to }) => make(operation.reply, claimed(address), [link, to], link),
    announcement: (address) =>
      make(operation.request, claimed(address), [mark, octetsOf(address)], broadcast),
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
  const mark = part(at.targetLink, 6);
  const from = linkAddressText(link);
  const isAnnouncement = isEqual(sender, target);
  if (packet[at.operation] === operation.reply || isAnnouncement) {
    const isMarked = packet[at.operation] === operation.request && isDevice(mark);
    const claimant = isMarked ? linkAddressText(mark) : from;
    return { address: textOf(sender), message: { type: 'claim', from: claimant } };
  }
  if (packet[at.operation] !== operation.request) return undefined;
  const replyTo = { link, address: sender };
  const isProbe = isEqual(sender, unspecified) || isEqual(mark, link);
  return {
    address: textOf(target),
    message: { type: isProbe ? 'probe' : 'question', from, replyTo },
  };
}

/** One device's address: neither nothing nor a group (IEEE 802, the lowest bit of the first octet). */
function isDevice(link: Uint8Array): boolean {
  return !isEqual(link, nobody) && ((link[0] ?? 1) & 1) === 0;
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
