/** Macvlan devices: links with a link-layer address of their own on another link (ip-link(8), include/uapi/linux/if_link.h). */
import { LinkMessage } from './link.ts';
import { MessageFlag, MessageWriter } from './netlink-message.ts';

const Attribute = { Address: 1, Name: 3, Parent: 5, LinkInfo: 18, Alias: 20 } as const;
const Info = { Kind: 1, Data: 2 } as const;
/**
 * IFLA_MACVLAN_MODE and MACVLAN_MODE_BRIDGE. With a private one the link below would not hear what comes from another host with the same
 * link-layer address.
 */
const mode = 1;
const bridgeMode = 4;
const up = 0x1;

/** A macvlan to make. */
export interface MacvlanSetting {
  /** At most 15 octets. */
  readonly name: string;
  /** The index of the link that it is on. */
  readonly parent: number;
  /** Its link-layer address, `02:00:00:00:00:01`. */
  readonly address: string;
}

function structure(index: number, flags = 0): Uint8Array {
  const bytes = new Uint8Array(16);
  const view = new DataView(bytes.buffer);
  view.setInt32(4, index, true);
  view.setUint32(8, flags, true);
  view.setUint32(12, flags, true);
  return bytes;
}

/** Makes a macvlan in bridge mode, which is down. `EEXIST` for a name that is taken, `EBUSY` on a port of a bridge or bond. */
export function addMacvlan({ name, parent, address }: MacvlanSetting): MessageWriter {
  const octets = address.split(':').map((octet) => Number.parseInt(octet, 16));
  if (octets.length !== 6 || octets.some((octet) => !(octet >= 0 && octet <= 255))) {
    throw new RangeError(`link-layer address of ${name}: "${address}"; allowed are six octets in hex`);
  }
  const flags = MessageFlag.Request | MessageFlag.Ack | MessageFlag.Create | MessageFlag.Exclusive;
  return new MessageWriter(LinkMessage.New, flags)
    .structure(structure(0))
    .u32(Attribute.Parent, parent)
    .string(Attribute.Name, name)
    .bytes(Attribute.Address, Uint8Array.from(octets))
    .nested(Attribute.LinkInfo, (info) =>
      info.string(Info.Kind, 'macvlan').nested(Info.Data, (data) => data.u32(mode, bridgeMode)),
    );
}

/** Notes something on a link. */
export function setLinkAlias(index: number, alias: string): MessageWriter {
  return new MessageWriter(LinkMessage.Set, MessageFlag.Request | MessageFlag.Ack)
    .structure(structure(index))
    .string(Attribute.Alias, alias);
}

/** Sets a link up. */
export function setLinkUp(index: number): MessageWriter {
  return new MessageWriter(LinkMessage.Set, MessageFlag.Request | MessageFlag.Ack).structure(
    structure(index, up),
  );
}

/** Deletes a virtual link, and with it its addresses and neighbors. */
export function deleteLink(index: number): MessageWriter {
  return new MessageWriter(LinkMessage.Delete, MessageFlag.Request | MessageFlag.Ack).structure(
    structure(index),
  );
}
