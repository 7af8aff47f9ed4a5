import type { IpAddress } from '../../types/ip-address.ts';
import { ipAddress } from '../../types/ip-address.ts';
import { EncodeError } from '../errors.ts';
import { UpdateSubcode } from '../notification-codes.ts';
import type { AttributeCodec } from './codec.ts';
import { WELL_KNOWN } from './codec.ts';

/** NEXT_HOP (RFC 4271 section 5.1.3; malformed: RFC 7606 section 7.3). Whether a host can have the address is for `validate.ts`. */
export const nextHop: AttributeCodec<IpAddress> = {
  code: 3,
  name: 'NEXT_HOP',
  flags: WELL_KNOWN,
  onMalformed: 'treat-as-withdraw',
  onWrongFlags: 'treat-as-withdraw',
  lengthSubcode: UpdateSubcode.AttributeLengthError,
  decode(reader) {
    return ipAddress(reader.bytes(4));
  },
  encode(writer, value) {
    if (value.version !== 4) throw new EncodeError('NEXT_HOP holds an IPv4 address only');
    writer.bytes(value.bytes);
  },
};
