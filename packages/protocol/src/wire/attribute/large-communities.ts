import { UpdateSubcode } from '../notification-codes.ts';
import type { LargeCommunity } from '../path-attributes.ts';
import type { Reader } from '../reader.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';
import { readList } from './value-list.ts';

/** LARGE_COMMUNITY (RFC 8092 section 3; malformed: section 6 of it). Order and repetition are kept as sent. */
export const largeCommunities: AttributeCodec<readonly LargeCommunity[]> = {
  code: 32,
  name: 'LARGE_COMMUNITY',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    return readList(reader, 12, () => readLargeCommunity(reader));
  },
  encode(writer, value) {
    for (const community of value) {
      writer.u32(community.globalAdministrator);
      writer.u32(community.localData1);
      writer.u32(community.localData2);
    }
  },
};

function readLargeCommunity(reader: Reader): LargeCommunity {
  return { globalAdministrator: reader.u32(), localData1: reader.u32(), localData2: reader.u32() };
}
