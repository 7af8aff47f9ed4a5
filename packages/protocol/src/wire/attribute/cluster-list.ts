import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_NON_TRANSITIVE } from './codec.ts';
import { readList } from './value-list.ts';

/** CLUSTER_LIST (RFC 4456 section 8; malformed, or from an external peer: RFC 7606 section 7.10). */
export const clusterList: AttributeCodec<readonly number[]> = {
  code: 10,
  name: 'CLUSTER_LIST',
  flags: OPTIONAL_NON_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  isInternalOnly: true,
  decode(reader) {
    return readList(reader, 4, () => reader.u32());
  },
  encode(writer, value) {
    for (const id of value) writer.u32(id);
  },
};
