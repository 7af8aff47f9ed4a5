/** Asks a link who has an address: ARP probe (RFC 5227 section 2.1.1) and neighbor solicitation (RFC 4861 section 7.2.2). */

import { SystemCallError } from './errno.ts';
import { addressBytes, ipVersion } from './internet-address.ts';
import { linkLayerAddressText } from './link.ts';
import { Domain, Level, SocketOption, SocketType } from './socket-constants.ts';
import { bind, close, receive, sendTo, setSocketOption, socket } from './syscalls.ts';

/** The link that is asked. */
export interface AskedLink {
  readonly index: number;
  /** `02:00:00:00:00:01`. */
  readonly address: string;
}

const packetDomain = 17;
const arpProtocol = 0x0806;
const arpReply = 2;
const arpPacketLength = 28;
const icmpv6 = 58;
const neighborSolicitation = 135;
const neighborAdvertisement = 136;
const Ipv6 = { UnicastHops: 16, MulticastInterface: 17, MulticastHops: 18 } as const;
const largestAnswer = 2048;

/**
 * The link-layer addresses that answer for an address on a link, this host's own left out. Waits, on the calling thread, until
 * the time is over: more than one may answer. Needs CAP_NET_RAW.
 * @param milliseconds how long answers are waited for
 * @throws SystemCallError `EPERM` without the capability
 */
export function addressOwners(link: AskedLink, target: string, milliseconds: number): readonly string[] {
  const own = macBytes(link.address);
  const exchange = ipVersion(target) === 4 ? arpExchange(link, own, target) : ndpExchange(link, own, target);
  const owners = new Set<string>();
  try {
    exchange.ask();
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0; left = end - performance.now()) {
      const answer = receiveWithin(exchange.fd, left);
      const owner = answer === undefined ? undefined : exchange.ownerIn(answer);
      if (owner !== undefined && owner !== link.address) owners.add(owner);
    }
  } finally {
    close(exchange.fd);
  }
  return [...owners];
}

interface Exchange {
  readonly fd: number;
  ask(): void;
  /** The link-layer address that an answer is from; undefined for what is no answer to this question. */
  ownerIn(packet: Uint8Array): string | undefined;
}

function arpExchange(link: AskedLink, own: Uint8Array, target: string): Exchange {
  const wanted = addressBytes(target);
  // The protocol is in network order, in an int.
  const fd = socket(packetDomain, SocketType.Datagram | SocketType.CloseOnExec, swapped(arpProtocol));
  try {
    bind(fd, linkAddress(link.index));
  } catch (error) {
    close(fd);
    throw error;
  }
  return {
    fd,
    ask: () => {
      const packet = new Uint8Array(arpPacketLength);
      // Ethernet, IPv4, request; the sender's IP address stays 0, so that no host learns it.
      packet.set([0, 1, 8, 0, 6, 4, 0, 1]);
      packet.set(own, 8);
      packet.set(wanted, 24);
      sendTo(fd, packet, linkAddress(link.index));
    },
    ownerIn: (packet) => {
      if (packet.length < arpPacketLength || packet[7] !== arpReply) return undefined;
      const isOurs = isEqual(packet.subarray(14, 18), wanted);
      return isOurs ? linkLayerAddressText(packet.subarray(8, 14)) : undefined;
    },
  };
}

/** `struct sockaddr_ll` (packet(7)), for ARP by broadcast. */
function linkAddress(index: number): Uint8Array {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, packetDomain, true);
  view.setUint16(2, arpProtocol);
  view.setInt32(4, index, true);
  view.setUint8(11, 6);
  bytes.fill(0xff, 12, 18);
  return bytes;
}

function ndpExchange(link: AskedLink, own: Uint8Array, target: string): Exchange {
  const wanted = addressBytes(target);
  const fd = socket(Domain.Inet6, SocketType.Raw | SocketType.CloseOnExec, icmpv6);
  return {
    fd,
    ask: () => {
      setSocketOption(fd, Level.Ipv6, Ipv6.MulticastInterface, link.index, 'IPV6_MULTICAST_IF');
      setSocketOption(fd, Level.Ipv6, Ipv6.MulticastHops, 255, 'IPV6_MULTICAST_HOPS');
      const packet = new Uint8Array(32);
      packet[0] = neighborSolicitation;
      packet.set(wanted, 8);
      // Option: source link-layer address.
      packet.set([1, 1], 24);
      packet.set(own, 26);
      sendTo(fd, packet, solicitedNode(wanted, link.index));
    },
    ownerIn: (packet) => {
      if (packet.length < 24 || packet[0] !== neighborAdvertisement) return undefined;
      if (!isEqual(packet.subarray(8, 24), wanted)) return undefined;
      // Option: target link-layer address. An answer without it is one all the same.
      return packet.length >= 32 && packet[24] === 2
        ? linkLayerAddressText(packet.subarray(26, 32))
        : 'unknown';
    },
  };
}

/** `struct sockaddr_in6` of ff02::1:ffXX:XXXX (RFC 4291 section 2.7.1). */
function solicitedNode(target: Uint8Array, index: number): Uint8Array {
  const bytes = new Uint8Array(28);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Domain.Inet6, true);
  bytes.set([0xff, 0x02], 8);
  bytes.set([0x01, 0xff], 19);
  bytes.set(target.subarray(13, 16), 21);
  view.setUint32(24, index, true);
  return bytes;
}

function receiveWithin(fd: number, milliseconds: number): Uint8Array | undefined {
  const time = new Uint8Array(16);
  const view = new DataView(time.buffer);
  const micro = Math.max(1_000, Math.round(milliseconds * 1_000));
  view.setBigInt64(0, BigInt(Math.floor(micro / 1_000_000)), true);
  view.setBigInt64(8, BigInt(micro % 1_000_000), true);
  setSocketOption(fd, Level.Socket, SocketOption.ReceiveTimeout, time, 'SO_RCVTIMEO');
  const buffer = new Uint8Array(largestAnswer);
  try {
    return buffer.subarray(0, receive(fd, buffer));
  } catch (error) {
    if (error instanceof SystemCallError && error.code === 'EAGAIN') return undefined;
    throw error;
  }
}

function macBytes(text: string): Uint8Array {
  return Uint8Array.from(text.split(':'), (octet) => Number.parseInt(octet, 16));
}

function swapped(value: number): number {
  return ((value & 0xff) << 8) | (value >> 8);
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((octet, index) => octet === b[index]);
}
