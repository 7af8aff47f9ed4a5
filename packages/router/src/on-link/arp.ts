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
 * ARP for IPv4 (RFC 826), with probes and announcements as RFC 5227 has them, but for a mark: an announcement has the sender's own
 * address where RFC 5227 wants nothing of interest, the target's link-layer address. By it a load balancer is told from any other host.
 *
 * With a shared identity a probe is a question with a sender, marked there too: a kernel that is a proxy, whose daemon does not run,
 * answers questions and no probes.
 * @param own our link-layer address
 * @param asker an IPv4 address of ours on the link, in whose name questions are asked
 */
export function arpLanguage(own: string, asker: string, shared?: SharedIdentity): LinkLanguage {
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
  const announcement = (address: string, to: Uint8Array): OutgoingPacket =>
    make(operation.request, claimed(address), [mac, octetsOf(address)], to);
  return {
    parse: (packet) => parseArp(packet, shared),
    probe: (address) =>
      shared === undefined
        ? make(operation.request, [mac, unspecified], [nobody, octetsOf(address)], broadcast)
        : make(operation.request, [mac, octetsOf(asker)], [mac, octetsOf(address)], broadcast),
    question: (address) =>
      make(operation.request, [mac, octetsOf(asker)], [nobody, octetsOf(address)], broadcast),
    answer: (address, { link, address: to, isPeer }) => {
      const reply = make(operation.reply, claimed(address), [link, to], link);
      // A reply has no room for the mark: one who probes may be a load balancer, and is told first who we are.
      if (isPeer) return [announcement(address, link)];
      return isEqual(to, unspecified) ? [announcement(address, link), reply] : [reply];
    },
    announcement: (address) => announcement(address, broadcast),
  };
}

/**
 * A request whose sender has the address, for another target, is no claim: masters that have the VIP on their loopback
 * may send such, and do not answer for it.
 */
function parseArp(
  packet: Uint8Array,
  shared: SharedIdentity | undefined,
): { address: string; message: LinkMessage } | undefined {
  if (packet.length < length || head.some((octet, index) => packet[index] !== octet)) return undefined;
  const part = (begin: number, size: number): Uint8Array => packet.slice(begin, begin + size);
  const [sender, target, link] = [part(at.sender, 4), part(at.target, 4), part(at.senderLink, 6)];
  const mark = part(at.targetLink, 6);
  const from = linkAddressText(link);
  const isAnnouncement = isEqual(sender, target);
  if (packet[at.operation] === operation.reply || isAnnouncement) {
    const address = textOf(sender);
    const isRequest = packet[at.operation] === operation.request;
    const isMarked = isRequest && isDevice(mark);
    const claimant = isMarked ? linkAddressText(mark) : from;
    if (!isMarked && from === shared?.linkOf(address)) {
      return { address, message: { type: 'claim', from, isPeer: true, isShared: true } };
    }
    const isPeer = isMarked || (isRequest ? false : undefined);
    return { address, message: { type: 'claim', from: claimant, isPeer } };
  }
  if (packet[at.operation] !== operation.request) return undefined;
  const isPeer = isEqual(mark, link);
  const replyTo = { link, address: sender, isPeer };
  const isProbe = isEqual(sender, unspecified) || isPeer;
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
