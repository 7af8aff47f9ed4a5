/** ARP and neighbor discovery as they are on a link: packet(7), without the link-layer header. */
import type { Socket } from 'node:net';
import { streamOf } from './descriptor-stream.ts';
import { addressBytes, ipVersion } from './internet-address.ts';
import { SocketType } from './socket-constants.ts';
import { attachFilter, Bpf, type Instruction, nothing, wholeDatagram } from './socket-filter.ts';
import { bind, close, sendTo, setSocketOption, socket } from './syscalls.ts';

const packetDomain = 17;
const packetLevel = 263;
/** PACKET_ADD_MEMBERSHIP and PACKET_MR_MULTICAST (include/uapi/linux/if_packet.h). */
const addMembership = 1;
const multicastMembership = 0;
const etherType = { 4: 0x0806, 6: 0x86dd } as const;

/** Which packets of a link are wanted: those about one of these addresses, all of one IP version. */
export interface PacketSocketOptions {
  /** The interface's index. */
  readonly index: number;
  /** IPv4: ARP packets that name one as sender or target. IPv6: neighbor solicitations and advertisements for one. */
  readonly addresses: readonly string[];
}

/** Who is told. */
export interface PacketSocketHandlers {
  /** An ARP packet, or an IPv6 packet with its header. Its memory is the socket's again when the call returns. */
  packet(packet: Uint8Array): void;
  /** The socket is closed: the link went away or down, or the socket failed. */
  lost(error: Error): void;
}

/** A socket that hears and speaks ARP, or neighbor discovery, on one link. Needs CAP_NET_RAW. */
export class PacketSocket {
  readonly #fd: number;
  readonly #stream: Socket;
  readonly #index: number;
  readonly #etherType: number;
  #isClosed = false;

  /** @throws SystemCallError `EPERM` without the capability, `ENODEV` for a link that is not there */
  constructor({ index, addresses }: PacketSocketOptions, handlers: PacketSocketHandlers) {
    const version = ipVersion(addresses[0] ?? '');
    this.#index = index;
    this.#etherType = etherType[version];
    const type = SocketType.Datagram | SocketType.NonBlocking | SocketType.CloseOnExec;
    // Without a protocol it hears nothing: the filter comes before the first packet.
    const fd = socket(packetDomain, type, 0);
    try {
      attachFilter(fd, (version === 4 ? arpAbout : neighborDiscoveryAbout)(addresses.map(addressBytes)));
      bind(fd, this.#link(new Uint8Array(6)));
      if (version === 6) {
        for (const group of addresses.map(addressBytes).map(solicitedNodeGroup)) join(fd, index, group);
      }
      this.#stream = streamOf(fd);
    } catch (error) {
      close(fd);
      throw error;
    }
    this.#fd = fd;
    this.#stream.on('data', (packet: Buffer) => {
      if (!this.#isClosed) handlers.packet(packet);
    });
    let cause: Error | undefined;
    this.#stream.on('error', (error) => {
      cause = error;
    });
    this.#stream.once('close', () => {
      if (this.#isClosed) return;
      this.close();
      handlers.lost(cause ?? new Error('the socket was closed'));
    });
  }

  /**
   * Sends one packet without waiting.
   * @param to link-layer address of six octets
   * @throws SystemCallError `ENETDOWN`, `ENXIO`, `ENOBUFS` and the like
   */
  send(packet: Uint8Array, to: Uint8Array): void {
    if (!this.#isClosed) sendTo(this.#fd, packet, this.#link(to));
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream.destroy();
    close(this.#fd);
  }

  /** `struct sockaddr_ll`. */
  #link(address: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(20);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, packetDomain, true);
    view.setUint16(2, this.#etherType);
    view.setInt32(4, this.#index, true);
    view.setUint8(11, 6);
    bytes.set(address.subarray(0, 6), 12);
    return bytes;
  }
}

/** Sender and target protocol address of an ARP packet for IPv4 (RFC 826). */
const arpOffset = { sender: 14, target: 24 } as const;

function arpAbout(addresses: readonly Uint8Array[]): readonly Instruction[] {
  const words = addresses.map((address) => lastWord(address));
  return [
    ...anyOf(arpOffset.sender, words),
    ...anyOf(arpOffset.target, words),
    [Bpf.GiveBack, 0, 0, nothing],
  ];
}

/** Next header of IPv6, and type and the end of the target address in ICMPv6 behind it (RFC 4861 sections 4.3 and 4.4). */
const ndpOffset = { nextHeader: 6, type: 40, targetEnd: 60 } as const;
const icmpv6 = 58;
const solicitation = 135;
const advertisement = 136;

function neighborDiscoveryAbout(addresses: readonly Uint8Array[]): readonly Instruction[] {
  return [
    [Bpf.LoadByte, 0, 0, ndpOffset.nextHeader],
    [Bpf.JumpIfEqual, 1, 0, icmpv6],
    [Bpf.GiveBack, 0, 0, nothing],
    [Bpf.LoadByte, 0, 0, ndpOffset.type],
    [Bpf.JumpIfEqual, 2, 0, solicitation],
    [Bpf.JumpIfEqual, 1, 0, advertisement],
    [Bpf.GiveBack, 0, 0, nothing],
    ...anyOf(ndpOffset.targetEnd, addresses.map(lastWord)),
    [Bpf.GiveBack, 0, 0, nothing],
  ];
}

/** Gives back the packet that has one of these words there, and falls through otherwise. */
function anyOf(offset: number, words: readonly number[]): readonly Instruction[] {
  return words.flatMap((word): Instruction[] => [
    [Bpf.LoadWord, 0, 0, offset],
    [Bpf.JumpIfEqual, 0, 1, word],
    [Bpf.GiveBack, 0, 0, wholeDatagram],
  ]);
}

function lastWord(address: Uint8Array): number {
  return new DataView(address.buffer, address.byteOffset).getUint32(address.length - 4);
}

/** 33:33 and the last word of the solicited-node address (RFC 2464 section 7, RFC 4291 section 2.7.1). */
function solicitedNodeGroup(address: Uint8Array): Uint8Array {
  return Uint8Array.of(0x33, 0x33, 0xff, ...address.subarray(13, 16));
}

/** `struct packet_mreq`. */
function join(fd: number, index: number, group: Uint8Array): void {
  const request = new Uint8Array(16);
  const view = new DataView(request.buffer);
  view.setInt32(0, index, true);
  view.setUint16(4, multicastMembership, true);
  view.setUint16(6, group.length, true);
  request.set(group, 8);
  setSocketOption(fd, packetLevel, addMembership, request, 'PACKET_ADD_MEMBERSHIP');
}
