/** The neighbor tables (ARP and neighbor discovery): RTM_*NEIGH (rtnetlink(7), include/uapi/linux/neighbor.h). */
import { addressBytes, familyOf, ipVersion, versionOfFamily } from './internet-address.ts';
import { linkLayerAddressText } from './link.ts';
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

/** RTM_*NEIGH. */
const NeighborMessage = { New: 28, Delete: 29, Get: 30 } as const;
const structureLength = 12;
const Attribute = { Destination: 1, LinkLayerAddress: 2, Interface: 8, Protocol: 12 } as const;
/** NUD_PERMANENT, NTF_PROXY. */
const permanent = 0x80;
const proxyFlag = 0x08;

const states = {
  0: 'none',
  1: 'incomplete',
  2: 'reachable',
  4: 'stale',
  8: 'delay',
  16: 'probe',
  32: 'failed',
  64: 'no-arp',
  128: 'permanent',
} as const;

/** NUD_*: how sure the kernel is of a neighbor's link-layer address (RFC 4861 section 7.3.2). */
export type NeighborState = (typeof states)[keyof typeof states];

/** An entry of the neighbor table. */
export interface Neighbor {
  /** The interface's index. */
  readonly index: number;
  readonly address: string;
  /** `02:00:00:00:00:01`; undefined as long as it is not known. */
  readonly linkLayerAddress?: string;
  readonly state: NeighborState;
}

/** A dump of the neighbors, of one interface when its index is given. */
export function dumpNeighbors(index?: number): MessageWriter {
  const writer = new MessageWriter(NeighborMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(
    new Uint8Array(structureLength),
  );
  return index === undefined ? writer : writer.u32(Attribute.Interface, index);
}

/** Reads RTM_NEWNEIGH; undefined for families other than IPv4 and IPv6 (bridge entries). @throws NetlinkFormatError */
export function parseNeighbor(payload: Uint8Array): Neighbor | undefined {
  const reader = new PayloadReader(payload, structureLength, 'ndmsg');
  if (versionOfFamily(reader.u8(0)) === undefined) return undefined;
  const attributes = reader.attributes();
  const address = attributes.address(Attribute.Destination);
  if (address === undefined) return undefined;
  const linkLayerAddress = attributes.bytes(Attribute.LinkLayerAddress);
  const state = Object.entries(states).find(([bit]) => Number(bit) === reader.u16(8))?.[1] ?? 'none';
  return {
    index: reader.i32(4),
    address,
    state,
    ...(linkLayerAddress === undefined ? {} : { linkLayerAddress: linkLayerAddressText(linkLayerAddress) }),
  };
}

/** An address that the kernel answers for on an interface, although it is another host's (proxy ARP, RFC 4861 section 7.2.8). */
export interface NeighborProxy {
  /** The interface's index. */
  readonly index: number;
  readonly address: string;
}

function structureOf({ index, address }: NeighborProxy): Uint8Array {
  const bytes = new Uint8Array(structureLength);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, familyOf(ipVersion(address)));
  view.setInt32(4, index, true);
  view.setUint16(8, permanent, true);
  view.setUint8(10, proxyFlag);
  return bytes;
}

/** Adds a proxy; nothing happens when it is there. @param protocol whose it is, as of routes; kernels before 4.20 ignore it */
export function setNeighborProxy(proxy: NeighborProxy, protocol: number): MessageWriter {
  const flags = MessageFlag.Request | MessageFlag.Ack | MessageFlag.Create | MessageFlag.Replace;
  return new MessageWriter(NeighborMessage.New, flags)
    .structure(structureOf(proxy))
    .bytes(Attribute.Destination, addressBytes(proxy.address))
    .u8(Attribute.Protocol, protocol);
}

export function deleteNeighborProxy(proxy: NeighborProxy): MessageWriter {
  return new MessageWriter(NeighborMessage.Delete, MessageFlag.Request | MessageFlag.Ack)
    .structure(structureOf(proxy))
    .bytes(Attribute.Destination, addressBytes(proxy.address));
}

/** A dump of the proxies of all interfaces: the kernel does not sort them out. */
export function dumpNeighborProxies(): MessageWriter {
  const bytes = new Uint8Array(structureLength);
  bytes[10] = proxyFlag;
  return new MessageWriter(NeighborMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(bytes);
}
