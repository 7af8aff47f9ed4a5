import type { RouterId } from '../../types/router-id.ts';
import { routerId } from '../../types/router-id.ts';
import { AttributeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { OPTIONAL_NON_TRANSITIVE } from './codec.ts';

/** ORIGINATOR_ID (RFC 4456 section 8; malformed, or from an external peer: RFC 7606 section 7.9). */
export const originatorId: AttributeCodec<RouterId> = {
  code: 9,
  name: 'ORIGINATOR_ID',
  flags: OPTIONAL_NON_TRANSITIVE,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  isInternalOnly: true,
  decode(reader) {
    const value = reader.u32();
    // No speaker has the identifier 0 (RFC 6286 section 2.1).
    if (value === 0) throw new AttributeError(UpdateSubcode.OptionalAttributeError, '0.0.0.0');
    return routerId(value);
  },
  encode(writer, value) {
    writer.u32(value);
  },
};
