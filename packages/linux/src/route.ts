/** Routes: RTM_*ROUTE (rtnetlink(7), include/uapi/linux/rtnetlink.h). */
import {
  addressBytes,
  addressText,
  familyOf,
  type IpVersion,
  ipVersion,
  parsePrefix,
  prefixText,
  versionOfFamily,
} from './internet-address.ts';
import { NetlinkFormatError } from './netlink-error.ts';
import { type Attributes, MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';
import { type Scope, scopeName, scopeNumber } from './scope.ts';

/** RTM_*ROUTE. */
export const RouteMessage = { New: 24, Delete: 25, Get: 26 } as const;

const structureLength = 12;
const Attribute = {
  Destination: 1,
  Interface: 4,
  Gateway: 5,
  Priority: 6,
  PreferredSource: 7,
  Multipath: 9,
  Table: 15,
  Mark: 16,
  Via: 18,
  NexthopId: 30,
} as const;

const types = [
  'unspecified',
  'unicast',
  'local',
  'broadcast',
  'anycast',
  'multicast',
  'blackhole',
  'unreachable',
  'prohibit',
  'throw',
  'nat',
] as const;

/** RTN_*: what the kernel does with a packet. */
export type RouteType = (typeof types)[number];

/** RT_TABLE_*: the tables that every kernel has. */
export const RouteTable = { Default: 253, Main: 254, Local: 255 } as const;

/** RTPROT_*: who installed a route. 186 is BGP as FRR writes it, and swept by its zebra. */
export const RouteProtocol = {
  Unspecified: 0,
  Redirect: 1,
  Kernel: 2,
  Boot: 3,
  Static: 4,
  Bird: 12,
} as const;

/** RTM_F_CLONED: an IPv6 route cache entry, which was not installed. */
const clonedFlag = 0x200;

/** RTM_F_LOOKUP_TABLE: the answer names the table that the route was found in. IPv6 refuses the flag, and always names it. */
const lookupTableFlag = 0x1000;

/** One way of a multipath route without next hop objects. */
export interface RouteHop {
  readonly interfaceIndex: number;
  readonly gateway?: string;
  /** 1 to 256. */
  readonly weight: number;
}

/** A route in a table of the kernel. */
export interface Route {
  /** `10.100.0.1/32`; `0.0.0.0/0` and `::/0` for default routes. */
  readonly destination: string;
  readonly table: number;
  readonly protocol: number;
  readonly type: RouteType;
  /** Lower wins. 0 for IPv4 when not given; the kernel makes 1024 of 0 for IPv6. */
  readonly metric?: number;
  /** The next hop object or group that the route uses. */
  readonly nexthopId?: number;
  /** For a route by next hop object: what the kernel shows of that object. */
  readonly gateway?: string;
  readonly interfaceIndex?: number;
  readonly scope?: Scope;
  /** The source address of packets that this host sends by the route. */
  readonly preferredSource?: string;
  /** More than one way; for a route by next hop group, what the kernel shows of the group. */
  readonly hops?: readonly RouteHop[];
}

/** A route to create, or to replace: the same destination, table and metric is the same route. */
export type RouteSetting = Omit<Route, 'type' | 'table' | 'hops'> & {
  /** Default: `unicast`. */
  readonly type?: RouteType;
  /** Default: 254, main. */
  readonly table?: number;
};

/** What names a route to delete. What is left out matches anything. */
export interface RouteKey {
  readonly destination: string;
  /** Default: 254, main. */
  readonly table?: number;
  readonly protocol?: number;
  readonly type?: RouteType;
  readonly metric?: number;
  readonly nexthopId?: number;
}

/** Which routes a dump is to show. The kernel filters by table and protocol. */
export interface RouteFilter {
  readonly table?: number;
  readonly protocol?: number;
  readonly version?: IpVersion;
}

/** What the kernel would do with a packet. */
export interface RouteDecision {
  readonly interfaceIndex: number;
  readonly gateway?: string;
  readonly source?: string;
  readonly type: RouteType;
  readonly table: number;
}

interface Structure {
  readonly family: number;
  readonly destinationLength?: number;
  readonly table?: number;
  readonly protocol?: number;
  readonly scope?: number;
  readonly type?: number;
  readonly flags?: number;
}

/** struct rtmsg. Tables above 255 go into RTA_TABLE and leave RT_TABLE_UNSPEC here. */
function structure(fields: Structure): Uint8Array {
  const table = fields.table ?? 0;
  const bytes = new Uint8Array(structureLength);
  bytes[0] = fields.family;
  bytes[1] = fields.destinationLength ?? 0;
  bytes[4] = table > 255 ? 0 : table;
  bytes[5] = fields.protocol ?? 0;
  bytes[6] = fields.scope ?? 0;
  bytes[7] = fields.type ?? 0;
  new DataView(bytes.buffer).setUint32(8, fields.flags ?? 0, true);
  return bytes;
}

function defaultScope(route: RouteSetting, type: RouteType): Scope {
  if (type === 'local') return 'host';
  const isOnLink = type === 'unicast' && route.gateway === undefined && route.nexthopId === undefined;
  return isOnLink ? 'link' : 'global';
}

/** Creates or replaces a route. @throws RangeError */
export function setRouteMessage(route: RouteSetting): MessageWriter {
  const destination = parsePrefix(route.destination);
  const type = route.type ?? 'unicast';
  const table = route.table ?? RouteTable.Main;
  const flags = MessageFlag.Request | MessageFlag.Ack | MessageFlag.Create | MessageFlag.Replace;
  const writer = new MessageWriter(RouteMessage.New, flags)
    .structure(
      structure({
        family: familyOf(destination.version),
        destinationLength: destination.length,
        table,
        protocol: route.protocol,
        scope: scopeNumber(route.scope ?? defaultScope(route, type)),
        type: types.indexOf(type),
      }),
    )
    .bytes(Attribute.Destination, destination.bytes)
    .u32(Attribute.Table, table);
  if (route.metric !== undefined) writer.u32(Attribute.Priority, route.metric);
  if (route.nexthopId !== undefined)
    return withSource(writer.u32(Attribute.NexthopId, route.nexthopId), route);
  if (route.gateway !== undefined) writeGateway(writer, destination.version, route.gateway);
  if (route.interfaceIndex !== undefined) writer.u32(Attribute.Interface, route.interfaceIndex);
  return withSource(writer, route);
}

function withSource(writer: MessageWriter, route: RouteSetting): MessageWriter {
  if (route.preferredSource !== undefined) {
    writer.bytes(Attribute.PreferredSource, addressBytes(route.preferredSource));
  }
  return writer;
}

/** A gateway of the other version goes into RTA_VIA: u16 family, then the address. */
function writeGateway(writer: MessageWriter, version: IpVersion, gateway: string): void {
  const bytes = addressBytes(gateway);
  const gatewayVersion = ipVersion(gateway);
  if (gatewayVersion === version) {
    writer.bytes(Attribute.Gateway, bytes);
    return;
  }
  writer.bytes(Attribute.Via, Uint8Array.from([familyOf(gatewayVersion), 0, ...bytes]));
}

/** Deletes the first route that matches. @throws RangeError */
export function deleteRouteMessage(key: RouteKey): MessageWriter {
  const destination = parsePrefix(key.destination);
  const table = key.table ?? RouteTable.Main;
  const writer = new MessageWriter(RouteMessage.Delete, MessageFlag.Request | MessageFlag.Ack)
    .structure(
      structure({
        family: familyOf(destination.version),
        destinationLength: destination.length,
        table,
        protocol: key.protocol ?? 0,
        scope: scopeNumber('nowhere'),
        type: key.type === undefined ? 0 : types.indexOf(key.type),
      }),
    )
    .bytes(Attribute.Destination, destination.bytes)
    .u32(Attribute.Table, table);
  if (key.metric !== undefined) writer.u32(Attribute.Priority, key.metric);
  if (key.nexthopId !== undefined) writer.u32(Attribute.NexthopId, key.nexthopId);
  return writer;
}

/** A dump of the routes of one version. */
export function dumpRoutes(version: IpVersion, filter: RouteFilter): MessageWriter {
  const writer = new MessageWriter(RouteMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(
    structure({ family: familyOf(version), protocol: filter.protocol ?? 0 }),
  );
  return filter.table === undefined ? writer : writer.u32(Attribute.Table, filter.table);
}

/**
 * Asks for the decision for one packet.
 * @param interfaceIndex the link of a link-local address
 * @throws RangeError
 */
export function routeToMessage(address: string, mark?: number, interfaceIndex?: number): MessageWriter {
  const version = ipVersion(address);
  const bytes = addressBytes(address);
  const writer = new MessageWriter(RouteMessage.Get, MessageFlag.Request | MessageFlag.Ack)
    .structure(
      structure({
        family: familyOf(version),
        destinationLength: bytes.length * 8,
        flags: version === 4 ? lookupTableFlag : 0,
      }),
    )
    .bytes(Attribute.Destination, bytes);
  if (interfaceIndex !== undefined) writer.u32(Attribute.Interface, interfaceIndex);
  return mark === undefined ? writer : writer.u32(Attribute.Mark, mark);
}

/**
 * Reads RTM_NEWROUTE or RTM_DELROUTE; undefined for other families (multicast routing, MPLS) and for cache entries.
 * @throws NetlinkFormatError
 */
export function parseRoute(payload: Uint8Array): Route | undefined {
  const reader = new PayloadReader(payload, structureLength, 'rtmsg');
  const version = versionOfFamily(reader.u8(0));
  if (version === undefined || (reader.u32(8) & clonedFlag) !== 0) return undefined;
  const attributes = reader.attributes();
  const metric = attributes.u32(Attribute.Priority);
  const nexthopId = attributes.u32(Attribute.NexthopId);
  const preferredSource = attributes.address(Attribute.PreferredSource);
  const hops = attributes.bytes(Attribute.Multipath);
  return {
    destination: prefixText(version, attributes.address(Attribute.Destination), reader.u8(1)),
    table: attributes.u32(Attribute.Table) ?? reader.u8(4),
    protocol: reader.u8(5),
    type: types[reader.u8(7)] ?? 'unspecified',
    scope: scopeName(reader.u8(6)),
    ...(metric === undefined ? {} : { metric }),
    ...(nexthopId === undefined ? {} : { nexthopId }),
    ...hopOf(attributes),
    ...(preferredSource === undefined ? {} : { preferredSource }),
    ...(hops === undefined ? {} : { hops: parseHops(hops) }),
  };
}

function hopOf(attributes: Attributes): { gateway?: string; interfaceIndex?: number } {
  const interfaceIndex = attributes.u32(Attribute.Interface);
  const gateway = attributes.address(Attribute.Gateway) ?? viaAddress(attributes.bytes(Attribute.Via));
  return {
    ...(gateway === undefined ? {} : { gateway }),
    ...(interfaceIndex === undefined ? {} : { interfaceIndex }),
  };
}

/** struct rtvia: family u16, then the address; undefined for families other than IPv4 and IPv6. */
function viaAddress(via: Uint8Array | undefined): string | undefined {
  return via !== undefined && (via.length === 6 || via.length === 18)
    ? addressText(via.subarray(2))
    : undefined;
}

/** struct rtnexthop: length u16, flags u8, hops u8 (weight less 1), ifindex i32; then attributes. */
function parseHops(bytes: Uint8Array): RouteHop[] {
  const hops: RouteHop[] = [];
  let offset = 0;
  while (bytes.length - offset >= 8) {
    const reader = new PayloadReader(bytes.subarray(offset), 8, 'rtnexthop');
    const length = reader.u16(0);
    if (length < 8 || length > bytes.length - offset) {
      throw new NetlinkFormatError(`rtnexthop length ${length}: allowed are 8 to ${bytes.length - offset}`);
    }
    const one = new PayloadReader(bytes.subarray(offset, offset + length), 8, 'rtnexthop');
    hops.push({ ...hopOf(one.attributes()), interfaceIndex: reader.i32(4), weight: reader.u8(3) + 1 });
    offset += (length + 3) & ~3;
  }
  return hops;
}

/** Reads the answer to a request for a decision. @throws NetlinkFormatError */
export function parseDecision(payload: Uint8Array): RouteDecision {
  const reader = new PayloadReader(payload, structureLength, 'rtmsg');
  const attributes = reader.attributes();
  const source = attributes.address(Attribute.PreferredSource);
  return {
    interfaceIndex: 0,
    ...hopOf(attributes),
    type: types[reader.u8(7)] ?? 'unspecified',
    table: attributes.u32(Attribute.Table) ?? reader.u8(4),
    ...(source === undefined ? {} : { source }),
  };
}
