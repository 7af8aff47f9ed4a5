import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { WELL_KNOWN } from './codec.ts';

/** LOCAL_PREF (RFC 4271 section 5.1.5; malformed, or from an external peer: RFC 7606 section 7.5). */
export const localPref: AttributeCodec<number> = {
  code: 5,
  name: 'LOCAL_PREF',
  flags: WELL_KNOWN,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  isInternalOnly: true,
  decode(reader) {
    return reader.u32();
  },
  encode(writer, value) {
    writer.u32(value);
  },
};
