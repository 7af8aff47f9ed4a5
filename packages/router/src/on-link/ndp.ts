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
const unspecified = new Uint8Array(16);
const allNodes = Uint8Array.of(0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);

/**
 * Neighbour discovery for IPv6 (RFC 4861), with the probes of duplicate address detection (RFC 4862 section 5.4). Who probes is not
 * said there; ours say it in a nonce (RFC 3971 section 5.3.2, RFC 7527), so that two that begin at once can settle who yields.
 * With a shared identity a nonce says it in announcements too.
 * @param own our link-layer address
 * @param source our address on the link, which answers are from
 */
export function neighbourDiscoveryLanguage(
  own: string,
  source: string,
  shared?: Pick<SharedIdentity, 'linkOf'>,
): LinkLanguage {
  const mac = linkAddressOctets(own);
  const from = octetsOf(source);
  const optionsFor = (address: string): readonly number[] =>
    shared === undefined
      ? [Option.targetLink, 1, ...mac]
      : [Option.targetLink, 1, ...linkAddressOctets(shared.linkOf(address)), Option.nonce, 1, ...mac];
  const advertise = (address: string, to: Uint8Array, link: Uint8Array, flags: number): OutgoingPacket => ({
    packet: packetOf(Type.advertisement, flags, octetsOf(address), optionsFor(address), from, to),
    to: link,
  });
  return {
    parse: parseNeighbourDiscovery,
    probe: (address) => {
      const target = octetsOf(address);
      const group = solicitedNode(target);
      return {
        packet: packetOf(Type.solicitation, 0, target, [Option.nonce, 1, ...mac], unspecified, group),
        to: multicastLink(group),
      };
    },
    answer: (address, replyTo) =>
      isUnspecified(replyTo.address)
        ? advertise(address, allNodes, multicastLink(allNodes), Flag.override)
        : advertise(address, replyTo.address, replyTo.link, Flag.solicited | Flag.override),
    announcement: (address) => advertise(address, allNodes, multicastLink(allNodes), Flag.override),
  };
}

function parseNeighbourDiscovery(packet: Uint8Array): { address: string; message: LinkMessage } | undefined {
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
    const link = options.get(Option.targetLink);
    return link === undefined
      ? undefined
      : { address, message: { type: 'claim', from: linkAddressText(options.get(Option.nonce) ?? link) } };
  }
  if (body[0] !== Type.solicitation) return undefined;
  if (isUnspecified(source)) {
    const nonce = options.get(Option.nonce);
    const replyTo = { link: multicastLink(allNodes), address: source };
    const from = nonce === undefined ? undefined : linkAddressText(nonce);
    return { address, message: { type: 'probe', from, replyTo } };
  }
  const link = options.get(Option.sourceLink);
  // Without it the asker knows us already, and asks the kernel's way: we do not know where to.
  if (link === undefined) return undefined;
  const replyTo: ReplyTo = { link, address: source };
  return { address, message: { type: 'question', from: linkAddressText(link), replyTo } };
}

/** Options of eight octets, by type; `undefined` when they are cut (RFC 4861 section 4.6). */
function optionsOf(body: Uint8Array): ReadonlyMap<number, Uint8Array> | undefined {
  const options = new Map<number, Uint8Array>();
  let at = messageLength;
  while (at < body.length) {
    const octets = (body[at + 1] ?? 0) * 8;
    if (octets === 0 || at + octets > body.length) return undefined;
    if (octets === 8) options.set(body[at] ?? 0, body.slice(at + 2, at + 8));
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
