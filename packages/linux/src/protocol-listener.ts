/** Hears the IP packets of one protocol that arrive on a link, whatever host they are for: packet(7), without the link-layer header. */
import type { Socket } from 'node:net';
import { streamOf } from './descriptor-stream.ts';
import { addressBytes, type IpVersion } from './internet-address.ts';
import { SocketType } from './socket-constants.ts';
import { attachFilter, Bpf, nothing, wholeDatagram } from './socket-filter.ts';
import { bind, close, setSocketOption, socket } from './syscalls.ts';

const packetDomain = 17;
const packetLevel = 263;
/** PACKET_ADD_MEMBERSHIP and PACKET_MR_MULTICAST (include/uapi/linux/if_packet.h). */
const addMembership = 1;
const multicastMembership = 0;
const etherType = { 4: 0x0800, 6: 0x86dd } as const;
/** Protocol of an IPv4 header, next header of an IPv6 one. */
const protocolOffset = { 4: 9, 6: 6 } as const;

/** Which packets are heard. */
export interface ProtocolListenerOptions {
  /** The interface's index. */
  readonly index: number;
  readonly version: IpVersion;
  /** Of the IP header, 112 for VRRP. IPv6: only where it is the first header. */
  readonly protocol: number;
  /** A multicast group, whose packets the interface takes. */
  readonly group: string;
}

/** Who is told. */
export interface ProtocolListenerHandlers {
  /** A packet with its IP header. Its memory is the socket's again when the call returns. */
  packet(packet: Uint8Array): void;
  /** It hears nothing any more: the link went away or down, or the socket failed. */
  lost(error: Error): void;
}

/** A socket that only listens. Needs CAP_NET_RAW. */
export class ProtocolListener {
  readonly #stream: Socket;
  #isClosed = false;

  /** @throws SystemCallError `EPERM` without the capability, `ENODEV` for a link that is not there */
  constructor(
    { index, version, protocol, group }: ProtocolListenerOptions,
    handlers: ProtocolListenerHandlers,
  ) {
    const type = SocketType.Datagram | SocketType.NonBlocking | SocketType.CloseOnExec;
    // Without a protocol it hears nothing: the filter comes before the first packet.
    const fd = socket(packetDomain, type, 0);
    try {
      attachFilter(fd, [
        [Bpf.LoadByte, 0, 0, protocolOffset[version]],
        [Bpf.JumpIfEqual, 0, 1, protocol],
        [Bpf.GiveBack, 0, 0, wholeDatagram],
        [Bpf.GiveBack, 0, 0, nothing],
      ]);
      bind(fd, linkOf(index, etherType[version]));
      join(fd, index, group);
      this.#stream = streamOf(fd);
    } finally {
      close(fd);
    }
    this.#stream.on('data', (packet: Buffer) => {
      if (!this.#isClosed) handlers.packet(packet);
    });
    let cause: Error | undefined;
    this.#stream.on('error', (error) => {
      cause = error;
    });
    this.#stream.once('close', () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      handlers.lost(cause ?? new Error('the socket was closed'));
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stream.destroy();
  }
}

/** `struct sockaddr_ll`. */
function linkOf(index: number, protocol: number): Uint8Array {
  const bytes = new Uint8Array(20);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, packetDomain, true);
  view.setUint16(2, protocol);
  view.setInt32(4, index, true);
  return bytes;
}

/** RFC 1112 section 6.4 and RFC 2464 section 7: the link-layer address of a group. */
function groupAddress(group: string): Uint8Array {
  const bytes = addressBytes(group);
  return bytes.length === 4
    ? Uint8Array.of(0x01, 0x00, 0x5e, (bytes[1] ?? 0) & 0x7f, bytes[2] ?? 0, bytes[3] ?? 0)
    : Uint8Array.of(0x33, 0x33, ...bytes.subarray(12));
}

/** `struct packet_mreq`. */
function join(fd: number, index: number, group: string): void {
  const request = new Uint8Array(16);
  const view = new DataView(request.buffer);
  const address = groupAddress(group);
  view.setInt32(0, index, true);
  view.setUint16(4, multicastMembership, true);
  view.setUint16(6, address.length, true);
  request.set(address, 8);
  setSocketOption(fd, packetLevel, addMembership, request, 'PACKET_ADD_MEMBERSHIP');
}
