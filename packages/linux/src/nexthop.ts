/** Next hop objects and groups: RTM_*NEXTHOP (include/uapi/linux/nexthop.h, ip-nexthop(8)). */
import { addressBytes, familyOf, ipVersion } from './internet-address.ts';
import { NetlinkFormatError } from './netlink-error.ts';
import { type Attributes, MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

/** RTM_*NEXTHOP. */
export const NexthopMessage = { New: 104, Delete: 105, Get: 106 } as const;

const structureLength = 8;
const Attribute = {
  Id: 1,
  Group: 2,
  GroupType: 3,
  Blackhole: 4,
  Interface: 5,
  Gateway: 6,
  ResilientGroup: 12,
} as const;
const Resilient = { Buckets: 1, IdleTimer: 2, UnbalancedTimer: 3 } as const;
const resilientGroupType = 1;
const memberLength = 8;

/** The kernel's timers of resilient groups count in clock_t of user space: 1/100 s. */
const ticksPerSecond = 100;

/** RTNH_F_*: what the kernel says about a next hop. */
export const NexthopFlag = { Dead: 1, OnLink: 4, LinkDown: 16 } as const;

/** A member of a group. */
export interface NexthopMember {
  readonly id: number;
  /** 1 to 256, its share of new flows. */
  readonly weight: number;
}

/** How a resilient group (hash buckets that stay with their member) is sized and timed. */
export interface ResilientSettings {
  /** The number of hash buckets, fixed when the group is created. */
  readonly buckets: number;
  /** Seconds (to 1/100) without traffic after which a bucket may move to a member that has too few. */
  readonly idleTimer: number;
  /** Seconds (to 1/100) out of balance after which buckets move although in use; 0 means never. */
  readonly unbalancedTimer: number;
}

/** A next hop, or with `group` a group of them. */
export interface Nexthop {
  readonly id: number;
  /** Who installed it, with numbers as for routes. */
  readonly protocol: number;
  readonly gateway?: string;
  readonly interfaceIndex?: number;
  readonly isBlackhole: boolean;
  readonly group?: readonly NexthopMember[];
  /** Only of a resilient group. */
  readonly resilient?: ResilientSettings;
  /** See NexthopFlag. */
  readonly flags: number;
}

/** A next hop to create or replace. */
export interface NexthopSetting {
  readonly id: number;
  readonly gateway: string;
  readonly interfaceIndex: number;
  readonly protocol: number;
  /** The gateway is taken to be on the link, whatever the addresses say. */
  readonly onLink?: boolean;
}

/** A group to create or replace. Replaced in place, only the buckets of members that left move. */
export interface NexthopGroupSetting {
  readonly id: number;
  /** At least one: the kernel has no empty groups. */
  readonly members: readonly NexthopMember[];
  readonly protocol: number;
  /** A resilient group. Neither this nor the number of buckets can be changed in place. */
  readonly resilient?: ResilientSettings;
}

/** struct nhmsg. */
function structure(family: number, protocol: number, flags: number): Uint8Array {
  const bytes = new Uint8Array(structureLength);
  bytes[0] = family;
  bytes[2] = protocol;
  new DataView(bytes.buffer).setUint32(4, flags, true);
  return bytes;
}

function create(family: number, protocol: number, flags: number): MessageWriter {
  const messageFlags = MessageFlag.Request | MessageFlag.Ack | MessageFlag.Create | MessageFlag.Replace;
  return new MessageWriter(NexthopMessage.New, messageFlags).structure(structure(family, protocol, flags));
}

/** Creates or replaces a next hop. @throws RangeError */
export function setNexthopMessage(nexthop: NexthopSetting): MessageWriter {
  const flags = nexthop.onLink === true ? NexthopFlag.OnLink : 0;
  return create(familyOf(ipVersion(nexthop.gateway)), nexthop.protocol, flags)
    .u32(Attribute.Id, nexthop.id)
    .u32(Attribute.Interface, nexthop.interfaceIndex)
    .bytes(Attribute.Gateway, addressBytes(nexthop.gateway));
}

/** Creates or replaces a group. @throws RangeError */
export function setNexthopGroupMessage(group: NexthopGroupSetting): MessageWriter {
  const members = new Uint8Array(group.members.length * memberLength);
  const view = new DataView(members.buffer);
  group.members.forEach(({ id, weight }, index) => {
    if (!Number.isInteger(weight) || weight < 1 || weight > 256) {
      throw new RangeError(`weight of next hop ${id} in group ${group.id}: ${weight}; allowed are 1 to 256`);
    }
    view.setUint32(index * memberLength, id, true);
    view.setUint8(index * memberLength + 4, weight - 1);
  });
  const writer = create(0, group.protocol, 0).u32(Attribute.Id, group.id).bytes(Attribute.Group, members);
  const { resilient } = group;
  if (resilient === undefined) return writer;
  if (!Number.isInteger(resilient.buckets) || resilient.buckets < 1 || resilient.buckets > 0xffff) {
    throw new RangeError(`buckets of group ${group.id}: ${resilient.buckets}; allowed are 1 to 65535`);
  }
  const idle = ticks(group.id, 'idle timer', resilient.idleTimer);
  const unbalanced = ticks(group.id, 'unbalanced timer', resilient.unbalancedTimer);
  return writer
    .u16(Attribute.GroupType, resilientGroupType)
    .nested(Attribute.ResilientGroup, (settings) =>
      settings
        .u16(Resilient.Buckets, resilient.buckets)
        .u32(Resilient.IdleTimer, idle)
        .u32(Resilient.UnbalancedTimer, unbalanced),
    );
}

/** The kernel takes the timers as u32 ticks. */
function ticks(group: number, what: string, seconds: number): number {
  const count = Math.round(seconds * ticksPerSecond);
  if (!(count >= 0 && count <= 0xffff_ffff)) {
    throw new RangeError(`${what} of group ${group}: ${seconds} s; allowed are 0 to 42949672`);
  }
  return count;
}

/** Deletes a next hop or group; the kernel deletes routes that use it, and takes it out of its groups. */
export function deleteNexthopMessage(id: number): MessageWriter {
  return new MessageWriter(NexthopMessage.Delete, MessageFlag.Request | MessageFlag.Ack)
    .structure(structure(0, 0, 0))
    .u32(Attribute.Id, id);
}

/** A dump of all next hops and groups. */
export function dumpNexthops(): MessageWriter {
  return new MessageWriter(NexthopMessage.Get, MessageFlag.Request | MessageFlag.Dump).structure(
    structure(0, 0, 0),
  );
}

/** Reads RTM_NEWNEXTHOP or RTM_DELNEXTHOP. @throws NetlinkFormatError */
export function parseNexthop(payload: Uint8Array): Nexthop {
  const reader = new PayloadReader(payload, structureLength, 'nhmsg');
  const attributes = reader.attributes();
  const gateway = attributes.address(Attribute.Gateway);
  const interfaceIndex = attributes.u32(Attribute.Interface);
  const members = attributes.bytes(Attribute.Group);
  const resilient = parseResilient(attributes);
  return {
    id: attributes.u32(Attribute.Id) ?? 0,
    protocol: reader.u8(2),
    isBlackhole: attributes.has(Attribute.Blackhole),
    flags: reader.u32(4),
    ...(gateway === undefined ? {} : { gateway }),
    ...(interfaceIndex === undefined ? {} : { interfaceIndex }),
    ...(members === undefined ? {} : { group: parseMembers(members) }),
    ...(resilient === undefined ? {} : { resilient }),
  };
}

/** struct nexthop_grp: id u32, weight less 1 u8, its high octet u8 (kernel 6.12 and later, 0 before), u16. */
function parseMembers(bytes: Uint8Array): NexthopMember[] {
  if (bytes.length % memberLength !== 0) {
    throw new NetlinkFormatError(
      `a next hop group of ${bytes.length} octets, not a multiple of ${memberLength}`,
    );
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / memberLength }, (_, index) => ({
    id: view.getUint32(index * memberLength, true),
    weight: view.getUint16(index * memberLength + 4, true) + 1,
  }));
}

function parseResilient(attributes: Attributes): ResilientSettings | undefined {
  if (attributes.u16(Attribute.GroupType) !== resilientGroupType) return undefined;
  const settings = attributes.nested(Attribute.ResilientGroup);
  return {
    buckets: settings?.u16(Resilient.Buckets) ?? 0,
    idleTimer: (settings?.u32(Resilient.IdleTimer) ?? 0) / ticksPerSecond,
    unbalancedTimer: (settings?.u32(Resilient.UnbalancedTimer) ?? 0) / ticksPerSecond,
  };
}
