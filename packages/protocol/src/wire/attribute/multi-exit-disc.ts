import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_NON_TRANSITIVE } from './codec.ts';

/** MULTI_EXIT_DISC (RFC 4271 section 5.1.4; malformed: RFC 7606 section 7.4). */
export const multiExitDisc: AttributeCodec<number> = {
  code: 4,
  name: 'MULTI_EXIT_DISC',
  flags: OPTIONAL_NON_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    return reader.u32();
  },
  encode(writer, value) {
    writer.u32(value);
  },
};
