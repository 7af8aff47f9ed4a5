/** Network interfaces: RTM_*LINK (rtnetlink(7), include/uapi/linux/if_link.h). */
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

/** RTM_*LINK. */
export const LinkMessage = { New: 16, Delete: 17, Get: 18, Set: 19 } as const;

const structureLength = 16;
const Attribute = {
  Address: 1,
  Name: 3,
  Mtu: 4,
  Parent: 5,
  Master: 10,
  OperState: 16,
  LinkInfo: 18,
  Alias: 20,
  AfSpec: 26,
} as const;
const ExtendedMask = { attribute: 29, skipStatistics: 1 << 3 } as const;
const infoKind = 1;
const afInet = 2;
const inetConf = 1;
const Flag = { Up: 0x1, Loopback: 0x8, LowerUp: 0x10000 } as const;

const operStates = [
  'unknown',
  'not-present',
  'down',
  'lower-layer-down',
  'testing',
  'dormant',
  'up',
] as const;

/** IF_OPER_* (RFC 2863 section 3.1.14). */
export type OperState = (typeof operStates)[number];

/** A network interface. */
export interface Link {
  readonly index: number;
  readonly name: string;
  /** `veth`, `bridge`, `vlan`...; undefined for hardware and loopback. */
  readonly kind?: string;
  /** IFF_* as the kernel has them (netdevice(7)). */
  readonly flags: number;
  /** Administratively up (IFF_UP). */
  readonly isUp: boolean;
  /** The lower layer is up (IFF_LOWER_UP). Without it the kernel removes next hops and routes that use the link. */
  readonly hasCarrier: boolean;
  readonly isLoopback: boolean;
  readonly operState: OperState;
  /** Octets. */
  readonly mtu: number;
  /** The link-layer address, `02:00:00:00:00:01`; undefined where the link has none. */
  readonly address?: string;
  /** The index of the bridge, bond or VRF that it belongs to. */
  readonly master?: number;
  /** The index of the link that a VLAN or macvlan is on, or of the other end of a veth pair. */
  readonly parent?: number;
  /** The note on it (IFLA_IFALIAS, `ip link set dev ... alias`). */
  readonly alias?: string;
}

/**
 * Settings of an interface for IPv4 that bgp-lb reads or sets, as in /proc/sys/net/ipv4/conf/INTERFACE: the numbers of
 * IPV4_DEVCONF_* (include/uapi/linux/ip.h). What takes effect is mostly the maximum of `all` and the interface.
 */
const ipv4ConfNumber = {
  forwarding: 1,
  proxyArp: 3,
  acceptRedirects: 4,
  sendRedirects: 6,
  rpFilter: 8,
  arpAnnounce: 18,
  arpIgnore: 19,
  acceptLocal: 23,
  srcValidMark: 24,
  proxyArpPvlan: 25,
  routeLocalnet: 26,
  ignoreRoutesWithLinkdown: 29,
} as const;

/** The name of such a setting. */
export type Ipv4ConfName = keyof typeof ipv4ConfNumber;

/** All such settings of an interface. A setting that the kernel does not have is undefined. */
export type Ipv4Conf = { readonly [N in Ipv4ConfName]: number | undefined };

function structure(index = 0): Uint8Array {
  const bytes = new Uint8Array(structureLength);
  new DataView(bytes.buffer).setInt32(4, index, true);
  return bytes;
}

/** A dump of all interfaces, without their statistics. */
export function dumpLinks(): MessageWriter {
  return new MessageWriter(LinkMessage.Get, MessageFlag.Request | MessageFlag.Dump)
    .structure(structure())
    .u32(ExtendedMask.attribute, ExtendedMask.skipStatistics);
}

/** A request for one interface. */
export function getLink(index: number): MessageWriter {
  return new MessageWriter(LinkMessage.Get, MessageFlag.Request | MessageFlag.Ack)
    .structure(structure(index))
    .u32(ExtendedMask.attribute, ExtendedMask.skipStatistics);
}

/** A change of IPv4 settings: IFLA_AF_SPEC / AF_INET / IFLA_INET_CONF, which works where /proc/sys is read-only. */
export function setIpv4Conf(index: number, conf: Partial<Record<Ipv4ConfName, number>>): MessageWriter {
  return new MessageWriter(LinkMessage.Set, MessageFlag.Request | MessageFlag.Ack)
    .structure(structure(index))
    .nested(Attribute.AfSpec, (families) =>
      families.nested(afInet, (inet) =>
        inet.nested(inetConf, (settings) => {
          for (const [name, value] of Object.entries(conf)) {
            settings.u32(confNumber(name), value);
          }
        }),
      ),
    );
}

function confNumber(name: string): number {
  const found = Object.entries(ipv4ConfNumber).find(([known]) => known === name);
  if (found === undefined) {
    throw new RangeError(
      `no such IPv4 setting: ${name}; known are ${Object.keys(ipv4ConfNumber).join(', ')}`,
    );
  }
  return found[1];
}

/** Reads RTM_NEWLINK or RTM_DELLINK. @throws NetlinkFormatError */
export function parseLink(payload: Uint8Array): Link {
  const reader = new PayloadReader(payload, structureLength, 'ifinfomsg');
  const attributes = reader.attributes();
  const flags = reader.u32(8);
  const kind = attributes.nested(Attribute.LinkInfo)?.string(infoKind);
  const address = attributes.bytes(Attribute.Address);
  const master = attributes.u32(Attribute.Master);
  const parent = attributes.u32(Attribute.Parent);
  const alias = attributes.string(Attribute.Alias);
  return {
    index: reader.i32(4),
    name: attributes.string(Attribute.Name) ?? '',
    flags,
    isUp: (flags & Flag.Up) !== 0,
    hasCarrier: (flags & Flag.LowerUp) !== 0,
    isLoopback: (flags & Flag.Loopback) !== 0,
    operState: operStates[attributes.u8(Attribute.OperState) ?? 0] ?? 'unknown',
    mtu: attributes.u32(Attribute.Mtu) ?? 0,
    ...(kind === undefined ? {} : { kind }),
    ...(address === undefined || address.length === 0 ? {} : { address: linkLayerAddressText(address) }),
    ...(master === undefined ? {} : { master }),
    ...(parent === undefined ? {} : { parent }),
    ...(alias === undefined ? {} : { alias }),
  };
}

/** `02:00:00:00:00:01` of the octets of a link-layer address. */
export function linkLayerAddressText(bytes: Uint8Array): string {
  return Array.from(bytes, (octet) => octet.toString(16).padStart(2, '0')).join(':');
}

/** Reads the IPv4 settings in RTM_NEWLINK, which come as an array of u32 beginning with number 1. */
export function parseIpv4Conf(payload: Uint8Array): Ipv4Conf {
  const attributes = new PayloadReader(payload, structureLength, 'ifinfomsg').attributes();
  const values = attributes.nested(Attribute.AfSpec)?.nested(afInet)?.bytes(inetConf) ?? new Uint8Array(0);
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const read = (number: number): number | undefined =>
    number * 4 <= view.byteLength ? view.getUint32((number - 1) * 4, true) : undefined;
  return {
    forwarding: read(ipv4ConfNumber.forwarding),
    proxyArp: read(ipv4ConfNumber.proxyArp),
    acceptRedirects: read(ipv4ConfNumber.acceptRedirects),
    sendRedirects: read(ipv4ConfNumber.sendRedirects),
    rpFilter: read(ipv4ConfNumber.rpFilter),
    arpAnnounce: read(ipv4ConfNumber.arpAnnounce),
    arpIgnore: read(ipv4ConfNumber.arpIgnore),
    acceptLocal: read(ipv4ConfNumber.acceptLocal),
    srcValidMark: read(ipv4ConfNumber.srcValidMark),
    proxyArpPvlan: read(ipv4ConfNumber.proxyArpPvlan),
    routeLocalnet: read(ipv4ConfNumber.routeLocalnet),
    ignoreRoutesWithLinkdown: read(ipv4ConfNumber.ignoreRoutesWithLinkdown),
  };
}
