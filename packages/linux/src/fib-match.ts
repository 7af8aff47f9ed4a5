/** The route that the kernel takes for a packet: RTM_GETROUTE with RTM_F_FIB_MATCH (include/uapi/linux/rtnetlink.h). */
import { addressBytes, familyOf, ipVersion } from './internet-address.ts';
import { MessageFlag, MessageWriter } from './netlink-message.ts';
import { RouteMessage } from './route.ts';

/** A TCP packet. */
export interface RoutedPacket {
  /** Undefined: the kernel chooses it. */
  readonly source?: string;
  readonly destination: string;
  readonly destinationPort: number;
  /** The interface that it comes by; undefined for one that this host sends. */
  readonly interfaceIndex?: number;
  /** Its firewall mark; undefined for none. */
  readonly mark?: number;
}

/** RTM_F_FIB_MATCH: the answer is the route itself, with its protocol and next hop object. */
const fibMatchFlag = 0x2000;
/** RTM_F_LOOKUP_TABLE: and with its table, which IPv6 names anyway. */
const lookupTableFlag = 0x1000;
const Attribute = {
  Destination: 1,
  Source: 2,
  InputInterface: 3,
  Mark: 16,
  Protocol: 27,
  SourcePort: 28,
  DestinationPort: 29,
} as const;
const tcp = 6;
/** One of those that clients take. */
const clientPort = 50_000;

/** @throws RangeError for what is no address */
export function fibMatchMessage(packet: RoutedPacket): MessageWriter {
  const destination = addressBytes(packet.destination);
  const source = packet.source === undefined ? undefined : addressBytes(packet.source);
  const structure = new Uint8Array(12);
  structure[0] = familyOf(ipVersion(packet.destination));
  structure[1] = destination.length * 8;
  structure[2] = (source?.length ?? 0) * 8;
  new DataView(structure.buffer).setUint32(
    8,
    ipVersion(packet.destination) === 4 ? fibMatchFlag | lookupTableFlag : fibMatchFlag,
    true,
  );
  const message = new MessageWriter(RouteMessage.Get, MessageFlag.Request | MessageFlag.Ack)
    .structure(structure)
    .bytes(Attribute.Destination, destination);
  if (source !== undefined) message.bytes(Attribute.Source, source);
  if (packet.interfaceIndex !== undefined) message.u32(Attribute.InputInterface, packet.interfaceIndex);
  if (packet.mark !== undefined && packet.mark !== 0) message.u32(Attribute.Mark, packet.mark);
  return message
    .u8(Attribute.Protocol, tcp)
    .bytes(Attribute.SourcePort, networkOrder(clientPort))
    .bytes(Attribute.DestinationPort, networkOrder(packet.destinationPort));
}

function networkOrder(port: number): Uint8Array {
  return new Uint8Array([port >> 8, port & 0xff]);
}
