import { EncodeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { ExtendedCommunity } from '../path-attributes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_TRANSITIVE } from './codec.ts';
import { readList } from './value-list.ts';

const SIZE = 8;

/** EXTENDED COMMUNITIES (RFC 4360 section 2; malformed: RFC 7606 section 7.14). Order and repetition are kept as sent. */
export const extendedCommunities: AttributeCodec<readonly ExtendedCommunity[]> = {
  code: 16,
  name: 'EXTENDED COMMUNITIES',
  flags: OPTIONAL_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    return readList(reader, SIZE, () => ({ bytes: reader.bytes(SIZE) }));
  },
  encode(writer, value) {
    for (const { bytes } of value) {
      if (bytes.length !== SIZE) {
        throw new EncodeError(`extended community of ${bytes.length} octets: expected ${SIZE}`);
      }
      writer.bytes(bytes);
    }
  },
};
