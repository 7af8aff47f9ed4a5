import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';
import { readList } from './value-list.ts';

/** COMMUNITIES (RFC 1997; malformed: RFC 7606 section 7.8). Order and repetition are kept as sent. */
export const communities: AttributeCodec<readonly number[]> = {
  code: 8,
  name: 'COMMUNITIES',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    return readList(reader, 4, () => reader.u32());
  },
  encode(writer, value) {
    for (const community of value) writer.u32(community);
  },
};

/** Communities that the IANA registry gives a meaning to (RFC 1997, RFC 7999, RFC 8326, RFC 9494). */
export const WellKnownCommunity = {
  GracefulShutdown: 0xffff0000,
  LlgrStale: 0xffff0006,
  NoLlgr: 0xffff0007,
  Blackhole: 0xffff029a,
  NoExport: 0xffffff01,
  NoAdvertise: 0xffffff02,
  NoExportSubconfed: 0xffffff03,
  NoPeer: 0xffffff04,
} as const;
