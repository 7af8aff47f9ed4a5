/** Hash buckets of resilient next hop groups: RTM_GETNEXTHOPBUCKET (include/uapi/linux/nexthop.h). */
import { NetlinkFormatError } from './netlink-error.ts';
import { MessageFlag, MessageWriter, PayloadReader } from './netlink-message.ts';

const getBucket = 118;
const structureLength = 8;
const Attribute = { Id: 1, Bucket: 13 } as const;
const Bucket = { Index: 1, IdleTime: 2, NexthopId: 3 } as const;
const ticksPerSecond = 100;

/** One hash bucket of a resilient group. */
export interface NexthopBucket {
  readonly index: number;
  /** The member that its flows go to. */
  readonly nexthopId: number;
  /** Seconds (to 1/100) since a packet last used it. */
  readonly idleTime: number;
}

/** A dump of the buckets of one group. */
export function dumpBuckets(group: number): MessageWriter {
  return new MessageWriter(getBucket, MessageFlag.Request | MessageFlag.Dump)
    .structure(new Uint8Array(structureLength))
    .u32(Attribute.Id, group);
}

/** Reads RTM_NEWNEXTHOPBUCKET. @throws NetlinkFormatError */
export function parseBucket(payload: Uint8Array): NexthopBucket {
  const bucket = new PayloadReader(payload, structureLength, 'nhmsg').attributes().nested(Attribute.Bucket);
  const index = bucket?.u16(Bucket.Index);
  const nexthopId = bucket?.u32(Bucket.NexthopId);
  if (index === undefined || nexthopId === undefined) {
    throw new NetlinkFormatError('a next hop bucket without index or next hop');
  }
  return { index, nexthopId, idleTime: Number(bucket?.u64(Bucket.IdleTime) ?? 0n) / ticksPerSecond };
}
