import { formatIpAddress, ipAddress, parseIpAddress } from '@bgp-lb/protocol';
import {
  type LinkLanguage,
  type LinkMessage,
  linkAddressOctets,
  linkAddressText,
  type OutgoingPacket,
  type ReplyTo,
  type SharedIdentity,
} from './link-message.ts';

const icmpv6 = 58;
const hopLimit = 255;
const headerLength = 40;
/** Type, code, checksum, flags, target. */
const messageLength = 24;
const Type = { solicitation: 135, advertisement: 136 } as const;
/** Override: what a cache has is replaced; solicited: an answer (RFC 4861 section 4.4). */
const Flag = { solicited: 0x40, override: 0x20 } as const;
const Option = { sourceLink: 1, targetLink: 2, nonce: 14 } as const;
/** What a nonce of ours ends with, behind a link-layer address: `bgp-lb`. */
const mark = Uint8Array.of(0x62, 0x67, 0x70, 0x2d, 0x6c, 0x62, 0, 0);
const unspecified = new Uint8Array(16);
const allNodes = Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);

/**
 * Neighbor discovery for IPv6 (RFC 4861), with the probes of duplicate address detection (RFC 4862 section 5.4). Who probes is not
 * said there; ours say it in a nonce (RFC 3971 section 5.3.2, RFC 7527), so that two that begin at once can settle who yields. Kernels
 * put a random one of six octets there; ours is longer, and marked. The same one is in what we say to have an address: by it a load
 * balancer is told from any other host.
 * @param own our link-layer address
 * @param source our address on the link, which answers are from
 */
export function neighborDiscoveryLanguage(
  own: string,
  source: string,
  shared?: SharedIdentity,
): LinkLanguage {
  const mac = linkAddressOctets(own);
  const from = octetsOf(source);
  const nonce = [Option.nonce, 2, ...mac, ...mark];
  const linkOf = (address: string): string => shared?.linkOf(address) ?? own;
  const optionsFor = (address: string): readonly number[] => [
    ...[Option.targetLink, 1, ...linkAddressOctets(linkOf(address))],
    ...nonce,
  ];
  const solicit = (address: string, options: readonly number[], by: Uint8Array): OutgoingPacket => {
    const target = octetsOf(address);
    const group = solicitedNode(target);
    return {
      packet: packetOf(Type.solicitation, 0, target, options, by, group),
      to: multicastLink(group),
    };
  };
  const advertise = (address: string, to: Uint8Array, link: Uint8Array, flags: number): OutgoingPacket => ({
    packet: packetOf(Type.advertisement, flags, octetsOf(address), optionsFor(address), from, to),
    to: link,
  });
  return {
    parse: (packet) => parseNeighborDiscovery(packet, own, linkOf),
    probe: (address) => solicit(address, nonce, unspecified),
    question: (address) => solicit(address, [Option.sourceLink, 1, ...mac], from),
    answer: (address, replyTo) => [
      isUnspecified(replyTo.address)
        ? advertise(address, allNodes, multicastLink(allNodes), Flag.override)
        : advertise(address, replyTo.address, replyTo.link, Flag.solicited | Flag.override),
    ],
    announcement: (address) => advertise(address, allNodes, multicastLink(allNodes), Flag.override),
  };
}

function parseNeighborDiscovery(
  packet: Uint8Array,
  own: string,
  linkOf: (address: string) => string,
): { address: string; message: LinkMessage } | undefined {
  const payload = packet.length - headerLength;
  if (payload < messageLength || (packet[0] ?? 0) >> 4 !== 6 || packet[6] !== icmpv6) return undefined;
  // A packet of another link cannot have it (RFC 4861 section 7.1). The code is 0.
  if (packet[7] !== hopLimit || packet[41] !== 0) return undefined;
  const [source, destination] = [packet.slice(8, 24), packet.slice(24, 40)];
  const body = packet.slice(headerLength, headerLength + payload);
  if (checksum(source, destination, body) !== 0) return undefined;
  const options = optionsOf(body);
  if (options === undefined) return undefined;
  const address = formatIpAddress(ipAddress(body.slice(8, 24)));
  if (body[0] === Type.advertisement) {
    const octets = linkOption(options, Option.targetLink);
    if (octets === undefined) return undefined;
    const link = linkAddressText(octets);
    const sender = senderOf(options);
    // Who speaks RFC 3971 copies the nonce of a solicitation into what he answers (section 5.3.3): that is ours, and he is not.
    const isCopied = sender === own && link !== own && link !== linkOf(address);
    if (sender === undefined || isCopied) {
      const isShared = link === linkOf(address);
      const whose = isShared ? ({ isPeer: true, isShared } as const) : { isPeer: false };
      return { address, message: { type: 'claim', from: link, ...whose } };
    }
    return { address, message: { type: 'claim', from: sender, isPeer: true } };
  }
  if (body[0] !== Type.solicitation) return undefined;
  if (isUnspecified(source)) {
    const from = senderOf(options);
    const replyTo = { link: multicastLink(allNodes), address: source, isPeer: from !== undefined };
    return { address, message: { type: 'probe', from, replyTo } };
  }
  const link = linkOption(options, Option.sourceLink);
  // Without it the asker knows us already, and asks the kernel's way: we do not know where to.
  if (link === undefined) return undefined;
  const replyTo: ReplyTo = { link, address: source, isPeer: false };
  return { address, message: { type: 'question', from: linkAddressText(link), replyTo } };
}

/** The load balancer that a nonce names; `undefined` for any other nonce. */
function senderOf(options: ReadonlyMap<number, Uint8Array>): string | undefined {
  const nonce = options.get(Option.nonce);
  const isMarked = nonce?.length === 14 && mark.every((octet, index) => nonce[6 + index] === octet);
  return isMarked ? linkAddressText(nonce.subarray(0, 6)) : undefined;
}

function linkOption(options: ReadonlyMap<number, Uint8Array>, type: number): Uint8Array | undefined {
  const octets = options.get(type);
  return octets?.length === 6 ? octets : undefined;
}

/** What options have, by type; `undefined` when they are cut (RFC 4861 section 4.6). */
function optionsOf(body: Uint8Array): ReadonlyMap<number, Uint8Array> | undefined {
  const options = new Map<number, Uint8Array>();
  let at = messageLength;
  while (at < body.length) {
    const octets = (body[at + 1] ?? 0) * 8;
    if (octets === 0 || at + octets > body.length) return undefined;
    options.set(body[at] ?? 0, body.slice(at + 2, at + octets));
    at += octets;
  }
  return options;
}

function packetOf(
  type: number,
  flags: number,
  target: Uint8Array,
  option: readonly number[],
  source: Uint8Array,
  destination: Uint8Array,
): Uint8Array {
  const body = Uint8Array.of(type, 0, 0, 0, flags, 0, 0, 0, ...target, ...option);
  new DataView(body.buffer).setUint16(2, checksum(source, destination, body));
  return Uint8Array.of(
    ...[0x60, 0, 0, 0, 0, body.length, icmpv6, hopLimit],
    ...source,
    ...destination,
    ...body,
  );
}

/** The checksum of ICMPv6 with its pseudo-header (RFC 8200 section 8.1); 0 over a message that has the right one. */
function checksum(source: Uint8Array, destination: Uint8Array, body: Uint8Array): number {
  const odd = body.length % 2 === 0 ? [] : [0];
  const all = Uint8Array.of(
    ...source,
    ...destination,
    0,
    0,
    0,
    body.length,
    0,
    0,
    0,
    icmpv6,
    ...body,
    ...odd,
  );
  const view = new DataView(all.buffer);
  let sum = 0;
  for (let at = 0; at < all.length; at += 2) sum += view.getUint16(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

/** ff02::1:ffXX:XXXX (RFC 4291 section 2.7.1). */
function solicitedNode(address: Uint8Array): Uint8Array {
  return Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, ...address.subarray(13, 16));
}

/** 33:33 and the last four octets of the group (RFC 2464 section 7). */
function multicastLink(group: Uint8Array): Uint8Array {
  return Uint8Array.of(0x33, 0x33, ...group.subarray(12, 16));
}

function isUnspecified(address: Uint8Array): boolean {
  return address.every((octet) => octet === 0);
}

function octetsOf(address: string): Uint8Array {
  return Uint8Array.from(parseIpAddress(address).bytes);
}
