import { AttributeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { Origin } from '../path-attributes.ts';
import type { AttributeCodec } from './codec.ts';
import { WELL_KNOWN } from './codec.ts';

/** ORIGIN (RFC 4271 section 5.1.1; malformed: RFC 7606 section 7.1). */
export const origin: AttributeCodec<Origin> = {
  code: 1,
  name: 'ORIGIN',
  flags: WELL_KNOWN,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    const value = reader.u8();
    if (value === 0 || value === 1 || value === 2) return value;
    throw new AttributeError(UpdateSubcode.InvalidOriginAttribute, `value ${value}: allowed 0, 1, 2`);
  },
  encode(writer, value) {
    writer.u8(value);
  },
};
