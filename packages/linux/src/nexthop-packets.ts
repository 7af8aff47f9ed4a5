/** Packets by member of a next hop group: NHA_GROUP_STATS, kernel 6.9 and later (include/uapi/linux/nexthop.h). */
import { Attributes, attributesIn, MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';
import { NexthopMessage } from './nexthop.ts';

const structureLength = 8;
const Attribute = { Id: 1, OperationFlags: 14, GroupStatistics: 15 } as const;
const Entry = { Id: 1, Packets: 2 } as const;
/** NHA_OP_FLAG_DUMP_STATS. */
const withStatistics = 1;

/** Asks for one group with its packet counters. */
export function getGroupPackets(group: number): MessageWriter {
  return new MessageWriter(NexthopMessage.Get, MessageFlag.Request | MessageFlag.Ack)
    .structure(new Uint8Array(structureLength))
    .u32(Attribute.Id, group)
    .u32(Attribute.OperationFlags, withStatistics);
}

/** Reads the counters by the member's id; `undefined` where the kernel has told none. @throws NetlinkFormatError */
export function parseGroupPackets(payload: Uint8Array): Map<number, number> | undefined {
  const attributes = new PayloadReader(payload, structureLength, 'nhmsg').attributes();
  const statistics = attributes.bytes(Attribute.GroupStatistics);
  if (statistics === undefined) return undefined;
  return new Map(
    attributesIn(statistics).map(([, bytes]) => {
      const entry = new Attributes(bytes);
      // The kernel takes four octets where they are enough (nla_put_uint), and eight where not.
      const isShort = entry.bytes(Entry.Packets)?.length === 4;
      const packets = isShort ? entry.u32(Entry.Packets) : Number(entry.u64(Entry.Packets) ?? 0n);
      return [entry.u32(Entry.Id) ?? 0, packets ?? 0];
    }),
  );
}
