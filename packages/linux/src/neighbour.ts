/** The neighbour tables (ARP and neighbour discovery): RTM_GETNEIGH (rtnetlink(7), include/uapi/linux/neighbour.h). */
import { versionOfFamily } from './internet-address.ts';
import { linkLayerAddressText } from './link.ts';
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

const getNeighbour = 30;
const structureLength = 12;
const Attribute = { Destination: 1, LinkLayerAddress: 2, Interface: 8 } as const;

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

/** NUD_*: how sure the kernel is of a neighbour's link-layer address (RFC 4861 section 7.3.2). */
export type NeighbourState = (typeof states)[keyof typeof states];

/** An entry of the neighbour table. */
export interface Neighbour {
  /** The interface's index. */
  readonly index: number;
  readonly address: string;
  /** `02:00:00:00:00:01`; undefined as long as it is not known. */
  readonly linkLayerAddress?: string;
  readonly state: NeighbourState;
}

/** A dump of the neighbours, of one interface when its index is given. */
export function dumpNeighbours(index?: number): MessageWriter {
  const writer = new MessageWriter(getNeighbour, MessageFlag.Request | MessageFlag.Dump).structure(
    new Uint8Array(structureLength),
  );
  return index === undefined ? writer : writer.u32(Attribute.Interface, index);
}

/** Reads RTM_NEWNEIGH; undefined for families other than IPv4 and IPv6 (bridge entries). @throws NetlinkFormatError */
export function parseNeighbour(payload: Uint8Array): Neighbour | undefined {
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
